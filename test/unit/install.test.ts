/**
 * What the install says when the machine lacks something, and where it finds headers.
 * @module
 */

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findHeaders } from '../../scripts/headers.mjs';

const root = join(import.meta.dirname, '..', '..');

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cordon-install-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** The install script where PATH holds exactly these programs. */
async function installWith(programs: Readonly<Record<string, string>>, env = {}) {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(bin, name), text, { mode: 0o755 });
  }
  return execa(process.execPath, [join(root, 'scripts', 'install.mjs')], {
    cwd: folder,
    env: { PATH: bin, ...env },
    extendEnv: false,
    reject: false,
  });
}

const WORKS = '#!/bin/sh\nexit 0\n';
const FAILS = '#!/bin/sh\necho "probe.cc:1:1: error: unknown option -std=c++20" >&2\nexit 1\n';

describe('an install that cannot build', () => {
  test.each([
    [['C++ compiler', 'make', 'python3'], {}],
    [['C++ compiler', 'python3'], { make: WORKS }],
    [['C++ compiler'], { make: WORKS, python3: WORKS }],
    [['make'], { 'g++': WORKS, python3: WORKS }],
    [['python3'], { 'clang++': WORKS, make: WORKS }],
    // A shim on PATH without an interpreter behind it is no python.
    [['python3'], { 'g++': WORKS, make: WORKS, python3: '#!/bin/sh\nexit 127\n' }],
  ])('names %j and exits 1 with one line', async (missing, programs) => {
    const { exitCode, stdout, stderr } = await installWith(programs);
    expect(stdout).toBe('');
    expect(stderr.split('\n')).toHaveLength(1);
    expect(stderr).toContain(`no ${missing.join(', no ')}. Install with: `);
    expect(exitCode).toBe(1);
  });

  test('says so when the compiler is too old for C++20', async () => {
    const { exitCode, stderr } = await installWith({ 'g++': FAILS, make: WORKS, python3: WORKS });
    expect(stderr.split('\n')).toHaveLength(1);
    expect(stderr).toContain('g++ does not compile C++20 here');
    expect(stderr).toContain('unknown option -std=c++20');
    expect(exitCode).toBe(1);
  });

  test('does not replace a compiler that CXX names by another', async () => {
    const programs = { 'g++': WORKS, make: WORKS, python3: WORKS };
    const { exitCode, stderr } = await installWith(programs, { CXX: 'no-such-compiler' });
    expect(stderr).toContain('no C++ compiler (CXX names no-such-compiler)');
    expect(exitCode).toBe(1);
  });
});

describe('headers', () => {
  async function prefix(name: string, files: readonly string[]): Promise<string> {
    const include = join(folder, name, 'include', 'node');
    await mkdir(include, { recursive: true });
    for (const file of files) await writeFile(join(include, file), '');
    return join(folder, name);
  }

  const ALL = ['node_api.h', 'node.h', 'common.gypi'];

  async function nodeIn(parent: string): Promise<string> {
    await mkdir(join(parent, 'bin'), { recursive: true });
    await writeFile(join(parent, 'bin', 'node'), '');
    return join(parent, 'bin', 'node');
  }

  test('beside node come first', async () => {
    const beside = await prefix('beside', ALL);
    const configured = await prefix('configured', ALL);
    const found = findHeaders(join(folder, 'build'), {
      execPath: await nodeIn(beside),
      env: { npm_config_nodedir: configured },
    });
    expect(found).toEqual({ nodedir: beside, origin: 'beside node' });
  });

  test('then npm’s nodedir, when the ones beside node are not whole', async () => {
    const beside = await prefix('beside', ['node_api.h']);
    const configured = await prefix('configured', ALL);
    const found = findHeaders(join(folder, 'build'), {
      execPath: await nodeIn(beside),
      env: { npm_config_nodedir: configured },
    });
    expect(found).toEqual({ nodedir: configured, origin: 'npm nodedir' });
  });

  test('then those of the package, laid out as node-gyp reads them', async () => {
    const build = join(folder, 'build');
    const found = findHeaders(build, {
      execPath: await nodeIn(join(folder, 'bare')),
      env: { npm_config_nodedir: join(folder, 'nowhere') },
    });
    expect(found).toEqual({ nodedir: join(build, 'node-api'), origin: 'node-api-headers' });
    const names = await readdir(join(build, 'node-api', 'include', 'node'));
    expect(names).toEqual(
      expect.arrayContaining(['node_api.h', 'js_native_api.h', 'common.gypi', 'config.gypi']),
    );
    expect(existsSync(join(build, 'node-api', 'include', 'node', 'v8.h'))).toBe(false);
  });
});
