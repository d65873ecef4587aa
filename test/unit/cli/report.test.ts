import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openReport } from '../../../src/cli/report.js';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import type { Origin, Policy, Root } from '../../../src/schema/policy.js';
import { NOTHING_PROTECTED } from '../../../src/schema/protection.js';
import type { RunResult } from '../../../src/schema/result.js';

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'ct-'));
});

afterEach(() => {
  rmSync(base, { recursive: true });
});

const ORIGIN: Origin = { kind: 'flag', name: '--allow-write' };

function root(path: string): Root {
  const { dev, ino, uid } = statSync(path, { bigint: true });
  const kind = statSync(path).isDirectory() ? 'directory' : 'file';
  return { path, asked: path, kind, dev, ino, uid: Number(uid), origin: ORIGIN };
}

function policy(...writable: Root[]): Policy {
  return {
    mode: { value: 'read-only', origin: ORIGIN },
    workspace: { value: root(base), origin: ORIGIN },
    writable,
    exposes: [],
    reachable: [],
    temp: { value: 'none', origin: ORIGIN },
    sharedMemory: { value: 'none', origin: ORIGIN },
    pty: { value: 'none', origin: ORIGIN },
    sockets: { value: 'own', origin: ORIGIN },
    denials: { value: 'off', origin: ORIGIN },
    rootCapabilities: { value: 'none', origin: ORIGIN },
    git: { value: 'default', origin: { kind: 'default' } },
    ...NOTHING_PROTECTED,
    namespaces: { value: 'auto', origin: ORIGIN },
    protect: { value: 'default', origin: ORIGIN },
    require: { value: 'partial', origin: ORIGIN },
  };
}

const RESULT: RunResult = {
  file: 'x',
  args: [],
  outcome: { kind: 'exited', code: 0 },
  failed: false,
  truncated: [],
  denials: [],
  denialsComplete: false,
  survivors: [{ pid: 1, command: 'x' }],
  findings: [],
  findingsComplete: true,
  environment: { removed: ['TMUX'] },
  durationMs: 1.5,
};

function refusal(act: () => unknown): SandboxError {
  try {
    act();
  } catch (error) {
    if (error instanceof SandboxError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

function refused(path: string, held: Policy | undefined, words: string): void {
  const error = refusal(() => openReport({ kind: 'file', path }, held));
  expect(error.code).toBe('REPORT_UNWRITABLE');
  expect(error.message).toContain(words);
}

describe('a report file', () => {
  it('is there before anything starts, for nobody else to read', () => {
    const path = join(base, 'report.json');
    const report = openReport({ kind: 'file', path }, policy());
    expect(statSync(path).mode & 0o777).toBe(0o600);
    report.write(RESULT);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      outcome: { kind: 'exited', code: 0 },
      enforcement: null,
      denials: [],
      denialsComplete: false,
      survivors: [{ pid: 1, command: 'x' }],
      findings: [],
      findingsComplete: true,
      policy: null,
      environment: { removed: ['TMUX'] },
      durationMs: 1.5,
    });
  });

  it('replaces an older one', () => {
    const path = join(base, 'report.json');
    writeFileSync(path, 'x'.repeat(10_000));
    const report = openReport({ kind: 'file', path }, undefined);
    expect(statSync(path).size).toBe(0);
    report.write(RESULT);
    expect(JSON.parse(readFileSync(path, 'utf8')).outcome).toEqual(RESULT.outcome);
  });

  it('goes to the file that was opened, whatever has its name by then', () => {
    const path = join(base, 'report.json');
    const report = openReport({ kind: 'file', path }, policy());
    linkSync(path, join(base, 'kept'));
    rmSync(path);
    writeFileSync(path, 'other');
    report.write(RESULT);
    expect(readFileSync(path, 'utf8')).toBe('other');
    expect(JSON.parse(readFileSync(join(base, 'kept'), 'utf8')).durationMs).toBe(1.5);
  });

  it('is refused where the command could write it, and nothing is made there', () => {
    mkdirSync(join(base, 'w', 'sub'), { recursive: true });
    const held = policy(root(join(base, 'w')));
    refused(join(base, 'w', 'report.json'), held, 'beneath a writable root');
    refused(join(base, 'w', 'sub', 'report.json'), held, 'beneath a writable root');
    expect(() => statSync(join(base, 'w', 'report.json'))).toThrow('ENOENT');
    openReport({ kind: 'file', path: join(base, 'w', 'report.json') }, undefined);
  });

  it('is refused there also when a link leads there', () => {
    mkdirSync(join(base, 'w'));
    symlinkSync('w', join(base, 'link'));
    const held = policy(root(join(base, 'w')));
    refused(join(base, 'link', 'report.json'), held, 'beneath a writable root');
    expect(() => statSync(join(base, 'w', 'report.json'))).toThrow('ENOENT');
  });

  it('is refused when it is itself a writable root', () => {
    const path = join(base, 'report.json');
    writeFileSync(path, 'precious');
    refused(path, policy(root(path)), 'could write it itself');
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it('is refused as a link, a dangling one too, and what it leads to stays', () => {
    writeFileSync(join(base, 'target'), 'precious');
    symlinkSync('target', join(base, 'link'));
    symlinkSync('nowhere', join(base, 'dangling'));
    refused(join(base, 'link'), policy(), 'symbolic link');
    refused(join(base, 'dangling'), policy(), 'symbolic link');
    expect(readFileSync(join(base, 'target'), 'utf8')).toBe('precious');
  });

  it('is refused with a second name, and keeps what it holds', () => {
    writeFileSync(join(base, 'a'), 'precious');
    linkSync(join(base, 'a'), join(base, 'b'));
    refused(join(base, 'b'), policy(), 'second name');
    expect(readFileSync(join(base, 'a'), 'utf8')).toBe('precious');
  });

  it('is refused when it is no file or has no place', () => {
    mkdirSync(join(base, 'directory'));
    refused(join(base, 'directory'), policy(), 'directory');
    refused(join(base, 'new/'), policy(), 'names a directory');
    refused('..', policy(), 'names a directory');
    refused(join(base, 'missing', 'report.json'), policy(), 'no such file');
    refused('/dev/null', policy(), 'not a regular file');
  });
});

describe('a report descriptor', () => {
  const open = (fd: number) => openReport({ kind: 'descriptor', fd }, undefined);

  it('is written to and stays open', () => {
    const fd = openSync(join(base, 'report.json'), 'w');
    open(fd).write(RESULT);
    closeSync(fd);
    expect(JSON.parse(readFileSync(join(base, 'report.json'), 'utf8')).durationMs).toBe(1.5);
  });

  it('is refused when it is closed or open for reading', () => {
    expect(refusal(() => open(987)).code).toBe('REPORT_UNWRITABLE');
    const fd = openSync(join(base, 'x'), 'w+');
    closeSync(fd);
    const reading = openSync(join(base, 'x'), 'r');
    expect(refusal(() => open(reading)).message).toContain('not open for writing');
    closeSync(reading);
  });

  it('is refused when it is a full disk', () => {
    const fd = openSync('/dev/full', 'w');
    expect(refusal(() => open(fd).write(RESULT)).message).toContain('no space left');
    closeSync(fd);
  });
});
