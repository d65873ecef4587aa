import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import { explainExecFailure } from '../../../src/facts/exec-failure.js';
import { needsOf } from '../../../src/facts/interpreter.js';
import { findProgram } from '../../../src/facts/program.js';

let place: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'program-')));
  mkdirSync(join(place, 'bin/directory'), { recursive: true });
  mkdirSync(join(place, 'second'));
  script('bin/ok', '#!/bin/sh\n');
  script('second/ok', '#!/bin/sh\n');
  script('bin/plain', '#!/bin/sh\n', 0o644);
  script('second/late', '#!/bin/sh\n');
  script('bin/late', '#!/bin/sh\n', 0o644);
  symlinkSync('ok', join(place, 'bin/link'));
  symlinkSync('none', join(place, 'bin/broken'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function script(name: string, text: string | Buffer, mode = 0o755): string {
  const path = join(place, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function outcome(file: string, path?: string): string {
  try {
    return findProgram(file, { cwd: place, env: path === undefined ? {} : { PATH: path } }).path;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return `${error.code} ${error.errno} ${error.object}`;
  }
}

describe('findProgram', () => {
  const rows: readonly (readonly [string, string | undefined, string])[] = [
    ['ok', '@/bin', '@/bin/ok'],
    ['ok', '@/none:@/second:@/bin', '@/second/ok'],
    ['ok', 'bin', 'bin/ok'],
    ['link', '@/bin', '@/bin/link'],
    ['late', '@/bin:@/second', '@/second/late'],
    ['bin/ok', '', 'bin/ok'],
    ['./bin/ok', '/x', './bin/ok'],
    ['@/bin/ok', '', '@/bin/ok'],
    ['sh', undefined, '/bin/sh'],
    ['none', '@/bin', 'COMMAND_NOT_FOUND ENOENT none'],
    ['broken', '@/bin', 'COMMAND_NOT_FOUND ENOENT broken'],
    ['ok', '', 'COMMAND_NOT_FOUND ENOENT ok'],
    ['bin/none', '', 'COMMAND_NOT_FOUND ENOENT bin/none'],
    ['bin/ok/x', '', 'COMMAND_NOT_FOUND ENOENT bin/ok/x'],
    ['plain', '@/bin', 'COMMAND_NOT_EXECUTABLE EACCES @/bin/plain'],
    ['directory', '@/bin', 'COMMAND_NOT_EXECUTABLE EISDIR @/bin/directory'],
    ['./bin', '', 'COMMAND_NOT_EXECUTABLE EISDIR ./bin'],
    ['/dev/null', '', 'COMMAND_NOT_EXECUTABLE EACCES /dev/null'],
  ];
  it.each(rows)('%s with PATH %s: %s', (file, path, expected) => {
    const here = (text: string) => text.replaceAll('@', place);
    const found = outcome(here(file), path === undefined ? undefined : here(path));
    expect(found).toBe(here(expected));
  });

  it('takes an empty entry of PATH for the working directory, with the bare name', () => {
    script('here', '#!/bin/sh\n');
    expect(outcome('here', ':/none')).toBe('here');
    expect(outcome('here', '/none:')).toBe('here');
  });
});

describe('a directory of PATH that may not be searched', () => {
  // Root may search everything, and looks as somebody else.
  const isRoot = process.getuid?.() === 0;
  beforeEach(() => {
    mkdirSync(join(place, 'closed'));
    chmodSync(join(place, 'closed'), 0);
  });

  const attempt = (file: string, path: string) => {
    const asOther = isRoot && process.seteuid !== undefined;
    if (asOther) chmodSync(place, 0o755);
    if (asOther) process.seteuid?.(54321);
    try {
      findProgram(file, { cwd: place, env: { PATH: path } });
      return 'found';
    } catch (error) {
      return error instanceof SandboxError ? `${error.code} ${error.message}` : `${error}`;
    } finally {
      if (asOther) process.seteuid?.(0);
    }
  };

  it('is not said to hold the command', () => {
    const closed = join(place, 'closed');
    expect(attempt('none', `${closed}:${place}/bin`)).toBe(
      `COMMAND_NOT_EXECUTABLE Cannot execute "none": it is nowhere else in PATH, and "${closed}" may not be searched (EACCES). Check the spelling, give its path, or take that directory out of PATH.`,
    );
  });

  it('yields to a command that is there and cannot be executed, and to one that can', () => {
    const path = `${place}/closed:${place}/bin`;
    expect(attempt('plain', path)).toContain(`Cannot execute "${place}/bin/plain": permission`);
    expect(attempt('ok', path)).toBe('found');
  });
});

describe('needsOf', () => {
  const scripts: readonly (readonly [string, object])[] = [
    ['#!/bin/sh\n', { kind: 'script', interpreter: '/bin/sh' }],
    ['#! \t/usr/bin/env node\n', { kind: 'script', interpreter: '/usr/bin/env' }],
    ['#!/bin/sh\r\n', { kind: 'script', interpreter: '/bin/sh\r' }],
    ['#!\n', { kind: 'other', isEmpty: false }],
    ['#!', { kind: 'other', isEmpty: false }],
    ['echo\n', { kind: 'other', isEmpty: false }],
    ['', { kind: 'other', isEmpty: true }],
  ];
  it.each(scripts)('%j', (text, expected) => {
    expect(needsOf(script('s', text))).toEqual(expected);
  });

  it('reads the loader of a real program', () => {
    expect(needsOf(process.execPath)).toMatchObject({
      kind: 'elf',
      loader: expect.stringMatching(/ld-|ld\./),
    });
  });

  it('survives every truncation and any bytes in the header', () => {
    const elf = execFileSync('head', ['-c', '4096', process.execPath]);
    for (let length = 0; length < 256; length++) {
      expect(() => needsOf(script('t', elf.subarray(0, length)))).not.toThrow();
    }
    for (let at = 4; at < 64; at++) {
      const spoiled = Buffer.from(elf);
      spoiled.fill(0xff, at, at + 8);
      expect(() => needsOf(script('t', spoiled))).not.toThrow();
    }
  });

  it('does not wait for a pipe, and says what it cannot read', () => {
    execFileSync('mkfifo', [join(place, 'fifo')]);
    for (const name of ['fifo', 'none', 'bin']) {
      expect(needsOf(join(place, name))).toEqual({ kind: 'unreadable' });
    }
  });
});

describe('explainExecFailure', () => {
  const rows: readonly (readonly [string, string | null, string, string, string])[] = [
    ['no interpreter', '#!/no/such/sh\n', 'ENOENT', 'COMMAND_NOT_EXECUTABLE', '/no/such/sh'],
    ['windows line', '#!/bin/sh\r\n', 'ENOENT', 'COMMAND_NOT_EXECUTABLE', 'Windows line endings'],
    [
      'interpreter is a directory',
      '#!/tmp\n',
      'EACCES',
      'COMMAND_NOT_EXECUTABLE',
      'is a directory',
    ],
    [
      'interpreter of an interpreter',
      '#!@/second/inner\n',
      'ENOENT',
      'COMMAND_NOT_EXECUTABLE',
      '/gone',
    ],
    ['no #! line', 'echo\n', 'ENOEXEC', 'COMMAND_NOT_EXECUTABLE', 'no'],
    ['empty', '', 'ENOEXEC', 'COMMAND_NOT_EXECUTABLE', 'it is empty'],
    ['permission', '#!/bin/sh\n', 'EACCES', 'COMMAND_NOT_EXECUTABLE', 'permission denied'],
    ['busy', '#!/bin/sh\n', 'ETXTBSY', 'COMMAND_NOT_EXECUTABLE', 'open for writing'],
    ['deep', '#!/bin/sh\n', 'ELOOP', 'COMMAND_NOT_EXECUTABLE', 'more than 5 deep'],
    ['vanished', null, 'ENOENT', 'COMMAND_NOT_FOUND', 'not found'],
    ['memory', '#!/bin/sh\n', 'ENOMEM', 'LAUNCH_FAILED', 'not enough memory'],
  ];
  it.each(rows)('%s', (name, text, errno, code, words) => {
    script('second/inner', '#!/gone\n');
    const path = `./${name.replaceAll(' ', '-').replaceAll('#!', '')}`;
    if (text !== null) script(path, text.replaceAll('@', place));
    const error = explainExecFailure({ path, cwd: place, errno });
    expect(error).toMatchObject({ code, errno, stage: 'exec', object: path });
    expect(error.message).toContain(words);
  });

  it('names the loader of a program that has none here', () => {
    const elf = execFileSync('cat', ['/bin/true']);
    const { loader = '' } = { loader: '', ...needsOf('/bin/true') };
    const at = elf.indexOf(loader);
    elf.write('/lib/none/', at);
    const path = script('foreign', elf);
    const error = explainExecFailure({ path, cwd: place, errno: 'ENOENT' });
    expect(error.code).toBe('COMMAND_NOT_EXECUTABLE');
    expect(error.message).toMatch(/its loader "\/lib\/none\/.* does not exist/);
  });

  it('is right about what the kernel says of the same file', () => {
    const path = script('wrong', '#!/no/such/sh\n');
    expect(() => execFileSync(path)).toThrow(/ENOENT/);
  });

  it('says whether one argument or all of them are too long', () => {
    const failure = { path: 'x', cwd: place, errno: 'E2BIG', env: [] };
    const one = explainExecFailure({ ...failure, argv: ['x', 'a'.repeat(200_000)] });
    expect(one).toMatchObject({ code: 'COMMAND_TOO_LONG' });
    expect(one.message).toContain('has 200000 bytes, the kernel takes 131071');
    const all = explainExecFailure({ ...failure, argv: Array(40).fill('a'.repeat(100_000)) });
    expect(all.message).toContain('have 4000040 bytes');
  });
});
