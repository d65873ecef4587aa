/**
 * What most tests need: a runner of one persona's, and a fresh workspace beneath it for each test.
 * @module
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { give, type Persona } from './as-user.js';
import { missing, needsHere } from './require.js';
import { Runner, type RunnerOptions, type Settled, type Unconfined } from './runner.js';
import { leftInTemp } from './temp.js';

export class Stage {
  readonly persona: Persona;
  readonly #options: RunnerOptions;
  #runner: Runner | undefined;
  #place = '';

  constructor(persona: Persona, options: RunnerOptions = {}) {
    this.persona = persona;
    this.#options = options;
  }

  /**
   * Declares the hooks; called where tests are declared. Where the machine lacks a capability nothing is set up, and every
   * test is skipped with what is missing.
   */
  install(...capabilities: readonly string[]): this {
    beforeAll(async () => {
      if (capabilities.some((each) => missing(each) !== undefined)) return;
      this.#runner = await new Runner(this.persona, this.#options).ready();
    });
    beforeEach((context) => {
      needsHere(context, ...capabilities);
      this.#place = mkdtempSync(join(this.runner.base, 's-'));
      give(this.persona, this.#place);
      this.directory('workspace');
    });
    afterEach(() => {
      if (this.#runner === undefined) return;
      // Whatever a test did to a run, the run's temp directory is gone.
      expect(leftInTemp(this.runner.temp)).toEqual([]);
      rmSync(this.#place, { recursive: true, force: true });
    });
    afterAll(() => this.#runner?.close());
    return this;
  }

  get runner(): Runner {
    if (this.#runner === undefined) throw new Error('the stage is used outside a test');
    return this.#runner;
  }

  /** A directory of this test's own; holds the workspace and whatever else the test makes. */
  get place(): string {
    return this.#place;
  }

  get workspace(): string {
    return this.path('workspace');
  }

  path(name: string): string {
    return join(this.#place, name);
  }

  directory(name: string): string {
    const path = this.path(name);
    mkdirSync(path, { recursive: true });
    for (let each = path; each !== this.#place; each = dirname(each)) give(this.persona, each);
    return path;
  }

  file(name: string, content: string, mode = 0o644): string {
    const path = this.path(name);
    if (dirname(name) !== '.') this.directory(dirname(name));
    writeFileSync(path, content, { mode });
    give(this.persona, path);
    return path;
  }

  /** `sh -c script` in the workspace, workspace-write unless said otherwise. */
  script(script: string, options: Readonly<Record<string, unknown>> = {}): Promise<Settled> {
    return this.run('sh', ['-c', script], options);
  }

  run(
    file: string,
    args: readonly string[] = [],
    options: Readonly<Record<string, unknown>> = {},
  ): Promise<Settled> {
    const { workspace } = this;
    return this.runner.confined(file, args, {
      mode: 'workspace-write',
      workspace,
      cwd: workspace,
      ...options,
    });
  }

  /** `cordon run OPTIONS -- COMMAND`, from the workspace. */
  cordonRun(options: readonly string[], command: readonly string[]): Promise<Unconfined> {
    return this.runner.cordon(['run', ...options, '--', ...command], { cwd: this.workspace });
  }
}

/** Asserts that a call was refused with a code, and that its result says so in the same words. */
export function expectRefusal(settled: Settled, code: string): void {
  expect(settled.error?.code, settled.error?.message).toBe(code);
  expect(settled.error?.isSandboxError).toBe(true);
  expect(settled.error?.message).toMatch(/^[A-Z].*[.?]$/s);
  const outcome = settled.result?.outcome;
  expect(['refused', 'launch-failed']).toContain(outcome?.kind);
  if (outcome?.kind === 'refused' || outcome?.kind === 'launch-failed') {
    expect(outcome.code).toBe(code);
  }
  expect(settled.result?.failed).toBe(true);
  expect(settled.result?.exitCode).toBeUndefined();
}
