/**
 * A digest is another one when anything that matters is another.
 * @module
 */

import { chmodSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { digestOf } from '../../../src/daemon/digest.js';
import { resolvePolicy } from '../../../src/run/inspect.js';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'digest-')));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const env = { PATH: '/usr/bin:/bin' };

it('is bound to words, place, environment and policy', () => {
  const policy = resolvePolicy({ cwd });
  const own = { argv: ['true'], cwd, policy, env };
  const first = digestOf(own);
  expect(digestOf({ ...own, env: { ...env } })).toBe(first);
  const others = [
    { ...own, argv: ['true', 'x'] },
    { ...own, argv: ['false'] },
    { ...own, cwd: '/' },
    { ...own, env: { ...env, LD_PRELOAD: 'x' } },
    { ...own, policy: resolvePolicy({ cwd, mode: 'workspace-write' }) },
  ];
  const digests = others.map(digestOf);
  expect(new Set([first, ...digests]).size).toBe(others.length + 1);
});

it('is bound to the bytes of a script, also where size and times stay', () => {
  const script = join(cwd, 'script');
  const write = (text: string) => {
    writeFileSync(script, text);
    chmodSync(script, 0o755);
    utimesSync(script, 1, 1);
  };
  const own = { argv: [script], cwd, policy: resolvePolicy({ cwd }), env };
  write('#!/bin/sh\necho a\n');
  const first = digestOf(own);
  write('#!/bin/sh\necho b\n');
  expect(digestOf(own)).not.toBe(first);
  write('#!/bin/sh\necho a\n');
  expect(digestOf(own)).toBe(first);
});

it('is there for a program that is not', () => {
  const own = { argv: ['/nowhere'], cwd: '/nowhere', policy: resolvePolicy({ cwd }), env };
  expect(digestOf(own)).toMatch(/^[0-9a-f]{64}$/);
});
