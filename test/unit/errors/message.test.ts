import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/errors/codes.js';
import { ERROR_CODES } from '../../../src/errors/codes.js';
import type { ErrorParts } from '../../../src/errors/details.js';
import { composeMessage } from '../../../src/errors/message.js';

const rows: readonly (readonly [ErrorParts, string])[] = [
  [
    {
      code: 'INVALID_REQUEST',
      details: {
        option: '--mode',
        problem: {
          code: 'INVALID_REQUEST',
          option: 'mode',
          expected: '"a" or "b"',
          came: '"c"',
          suggestion: 'b',
        },
      },
    },
    'Invalid --mode: expected "a" or "b", got "c". Did you mean "b"?',
  ],
  [
    {
      code: 'UNKNOWN_KEY',
      object: 'zz',
      details: {
        problem: { code: 'UNKNOWN_KEY', option: 'zz', expected: 'mode, temp', came: '1' },
      },
    },
    'Unknown option "zz". Known: mode, temp.',
  ],
  [
    {
      code: 'ROOT_MISSING',
      object: 'a/b/c',
      errno: 'ENOENT',
      details: { use: 'a writable root', missing: '/w/a' },
    },
    'Cannot use "a/b/c" as a writable root: "/w/a" does not exist. Create it first, or name another path.',
  ],
  [
    {
      code: 'ROOT_MISSING',
      object: 'l/x',
      errno: 'ENOENT',
      details: { use: 'the workspace', missing: '/w/l', linkTarget: 'gone' },
    },
    'Cannot use "l/x" as the workspace: "/w/l" is a symbolic link to "gone", which does not exist. Create it first, or name another path.',
  ],
  [
    { code: 'ROOT_UNREADABLE', object: '/r', errno: 'EACCES', details: { use: 'a writable root' } },
    'Cannot use "/r" as a writable root: permission denied (EACCES). Make it reachable for this user, or name another path.',
  ],
  [
    { code: 'ROOT_TOO_WIDE', object: '/', details: { covers: 'is the whole file system' } },
    'The workspace would be "/", which is the whole file system. Change to a project directory, or write the workspace out (--workspace DIR, or the option `workspace`).',
  ],
  [
    { code: 'SUPERVISOR_LOST', object: 'make' },
    'The supervisor of "make" ended before the run did. The run was killed; its result is not known. See what it has done before you run it again.',
  ],
  [
    { code: 'WORKING_DIRECTORY_UNUSABLE', object: '/gone', errno: 'ENOENT' },
    'Cannot enter the working directory "/gone": no such file or directory (ENOENT). Nothing was started. Create it or make it enterable, or name another (--cwd DIR, or the option `cwd`).',
  ],
  [
    {
      code: 'COMMAND_NOT_EXECUTABLE',
      object: './x',
      errno: 'ENOENT',
      details: { interpreter: '/bin/sh\r', interpreterOf: 'script', reason: 'does not exist' },
    },
    'Cannot execute "./x": its interpreter "/bin/sh\\r" does not exist. Install it, or correct the path the command names.',
  ],
  [
    { code: 'LAUNCH_FAILED', stage: 'landlock-rule', object: '/p', errno: 'ENOMEM' },
    'Cannot allow writing to a path (Landlock rule): "/p": not enough memory (ENOMEM). Nothing of the command ran.',
  ],
  [
    {
      code: 'SANDBOX_UNAVAILABLE',
      details: { probed: [{ mechanism: 'landlock', found: false, error: 'EOPNOTSUPP' }] },
    },
    'No sandbox works on this machine: landlock is not usable: disabled on this machine (EOPNOTSUPP). Nothing was started. Run `cordon doctor` for what to change.',
  ],
  [
    {
      code: 'ENFORCEMENT_TOO_WEAK',
      details: {
        requirement: 'full',
        unmet: [
          { guarantee: 'metadata', gap: 'modes can be changed' },
          { guarantee: 'truncate', gap: 'files can be emptied', remedy: 'use Linux 6.2' },
        ],
      },
    },
    'This machine cannot enforce what is required (full): metadata (modes can be changed); truncate (files can be emptied). Nothing was started. To mend it: use Linux 6.2.',
  ],
  [
    { code: 'COMMAND_FAILED', object: 'make', details: { exitCode: 2 } },
    'Command "make" exited with code 2.',
  ],
  [
    { code: 'COMMAND_FAILED', object: 'make', details: { signal: 'SIGSEGV' } },
    'Command "make" was ended by SIGSEGV.',
  ],
  [
    { code: 'TIMED_OUT', object: 'sleep', details: { timeoutMs: 50 } },
    'Command "sleep" did not end within 50 ms and was ended.',
  ],
];

describe('messages', () => {
  it.each(rows)('$code', (parts, message) => {
    expect(composeMessage(parts)).toBe(message);
  });

  it.each(Object.keys(ERROR_CODES))('%s has a sentence with nothing but its code', (code) => {
    const known = Object.keys(ERROR_CODES).find((each): each is ErrorCode => each === code)!;
    const message = composeMessage({ code: known });
    expect(message).not.toMatch(/undefined|\[object/);
    expect(message).toMatch(/[.?]$/);
  });

  it('never lets a control or bidi character of an object through', () => {
    const codes = Object.keys(ERROR_CODES).filter((each): each is ErrorCode => each in ERROR_CODES);
    fc.assert(
      fc.property(fc.constantFrom(...codes), fc.string({ unit: 'binary' }), (code, text) => {
        const details = { missing: text, linkTarget: text, interpreter: text, reason: text };
        const message = composeMessage({ code, object: text, details });
        expect(message).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });
});
