import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { give, PERSONAS } from '../support/as-user.js';
import { raceProgram } from '../support/build.js';
import { hasEnded, marked, parentOf } from '../support/processes.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { until } from '../support/until.js';
import { differences, snapshot } from '../support/world.js';

needs('landlock', 'seccomp');

const RACE_MS = 1_500;
/** Fewer calls than these in that time, and the race proves little. Every brokered connect costs a fork. */
const LEAST_CALLS = 1_000;
const LEAST_CONNECTS = 100;

const KINDS = [
  'path',
  'descriptor',
  'directory-descriptor',
  'current',
  'link',
  'rename',
  'connect',
] as const;

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  let place: string;
  let inside: string;
  let outside: string;
  let arrived: number;
  let server: ReturnType<typeof createServer>;

  beforeEach(async () => {
    // A path of a socket has 108 bytes.
    place = mkdtempSync(join(stage.place, 'r'));
    give(persona, place);
    [inside, outside] = ['i', 'o'].map((name) => {
      const base = join(place, name);
      mkdirSync(join(base, 'directory'), { recursive: true });
      writeFileSync(join(base, 'file'), 'file\n');
      writeFileSync(join(base, 'directory', 'file'), 'file\n');
      for (const part of ['', 'file', 'directory', 'directory/file'])
        give(persona, join(base, part));
      return base;
    }) as [string, string];
    arrived = 0;
    server = createServer((socket) => {
      arrived += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(join(outside, 'socket'), resolve));
    chmodSync(join(outside, 'socket'), 0o777);
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const counts = (output: string | undefined): readonly number[] =>
    `${output}`.trim().split(' ').map(Number);

  describe.each(KINDS)('%s', (kind) => {
    it('unconfined the outside is changed', async () => {
      const before = snapshot(outside);
      const args = [kind, inside, outside, '200'];
      const { stdout, stderr } = await stage.runner.unconfined(raceProgram(), args);
      expect(counts(stdout)[0], stderr).toBeGreaterThan(0);
      if (kind === 'connect') await until('the outside server was reached', () => arrived > 0);
      else expect(differences(before, snapshot(outside))).not.toEqual([]);
    });

    it('confined it never is, however often it is tried', async () => {
      const before = snapshot(outside);
      const insideBefore = snapshot(inside);
      const args = [kind, inside, outside, `${RACE_MS}`];
      const { result, error } = await stage.run(raceProgram(), args, {
        workspace: inside,
        cwd: inside,
      });
      expect(error?.message, `${result?.stderr}`).toBeUndefined();
      expect(differences(before, snapshot(outside))).toEqual([]);
      expect(arrived).toBe(0);
      const [worked = 0, refused = 0] = counts(`${result?.stdout}`);
      expect(worked).toBeGreaterThan(0);
      expect(refused).toBeGreaterThan(0);
      expect(worked + refused).toBeGreaterThan(kind === 'connect' ? LEAST_CONNECTS : LEAST_CALLS);
      expect(differences(insideBefore, snapshot(inside))).not.toEqual([]);
    });
  });

  it('a socket made in the first moment of a run is its own, also on a busy machine', async () => {
    const starts = Array.from({ length: 48 }, async (_, index) => {
      const own = join(inside, `${index}`);
      mkdirSync(own);
      writeFileSync(join(own, 'file'), '');
      give(persona, own);
      give(persona, join(own, 'file'));
      const args = ['connect', own, outside, '1'];
      const { result, error } = await stage.run(raceProgram(), args, { workspace: own, cwd: own });
      expect(error?.message, `${result?.stderr}`).toBeUndefined();
      return counts(`${result?.stdout}`)[0];
    });
    expect(await Promise.all(starts)).not.toContain(0);
  });

  it('1,000 threads at once: every answer is its own', async () => {
    const args = ['load', '1000', '10', inside];
    const options = { workspace: inside, cwd: inside };
    const { result, error } = await stage.run(raceProgram(), args, options);
    expect(error?.message, `${result?.stderr}`).toBeUndefined();
    expect(counts(`${result?.stdout}`)).toEqual([1000 * 10, 0]);
  });

  // The limit of processes does not hold root.
  if (persona.name === 'ordinary')
    it('a fork bomb that calls: the run ends and all with it', async () => {
      const args = ['forks', '1000', inside];
      const options = { workspace: inside, cwd: inside };
      const { result, error } = await stage.run(raceProgram(), args, options);
      expect(error?.message, `${result?.stderr}`).toBeUndefined();
      const [worked = 0, refused] = counts(`${result?.stdout}`);
      expect([worked > 0, refused]).toEqual([true, 0]);
      expect(marked(inside)).toEqual([]);
    });

  it('the supervisor is killed in the middle of calls: they fail, and nothing stays', async () => {
    const before = snapshot(outside);
    const run = stage.runner.watched(raceProgram(), ['busy', inside], {
      mode: 'workspace-write',
      workspace: inside,
      cwd: inside,
    });
    const pid = await run.started;
    await run.says('ready');
    const supervisor = parentOf(pid);
    expect(supervisor).toBeGreaterThan(1);
    process.kill(supervisor, 'SIGKILL');
    const { error } = await run.settled;
    expect(error?.code).toBe('SUPERVISOR_LOST');
    await until('all of it has ended', () => hasEnded(pid) && marked(inside).length === 0);
    expect(differences(before, snapshot(outside))).toEqual([]);
    expect(readdirSync(inside).sort()).toEqual(['directory', 'file']);
  });
});
