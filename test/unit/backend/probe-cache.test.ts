import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proofKey, readProofs, writeProofs } from '../../../src/backend/probe-cache.js';
import type { Proofs, Proven } from '../../../src/schema/proofs.js';
import { EFFECTS } from '../../../src/schema/proofs.js';
import { needsHere } from '../../support/require.js';

const KEY = 'this machine';
const STOPPED: Proofs = Object.fromEntries(EFFECTS.map((effect) => [effect, 'stopped']));
const PROOFS: Proven = { listener: true, brokered: STOPPED, refused: STOPPED };

let place: string;
let file: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'proofs-'));
  file = join(place, 'proofs.json');
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

describe('proofs on disk', () => {
  it('are found again, by their owner alone', () => {
    expect(readProofs(place, KEY)).toBeUndefined();
    writeProofs(place, KEY, PROOFS);
    expect(readProofs(place, KEY)).toEqual(PROOFS);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(place)).toEqual(['proofs.json']);
  });

  it('are found again where nobody listens', () => {
    const proven: Proven = { listener: false, brokered: {}, refused: STOPPED, unjudged: STOPPED };
    writeProofs(place, KEY, proven);
    expect(readProofs(place, KEY)).toEqual(proven);
  });

  it('have what was seen of rules for reading, unless that is no proof', () => {
    writeProofs(place, KEY, { ...PROOFS, reading: 'took-place' });
    expect(readProofs(place, KEY)).toEqual({ ...PROOFS, reading: 'took-place' });
    put(JSON.stringify({ ...kept(), proven: { ...PROOFS, reading: 'surely' } }));
    expect(readProofs(place, KEY)).toEqual(PROOFS);
  });

  it('are not found for another key', () => {
    writeProofs(place, KEY, PROOFS);
    expect(readProofs(place, 'another machine')).toBeUndefined();
  });

  const kept = () => JSON.parse(readFileSync(file, 'utf8'));
  const spoilt = (over: object) =>
    put(JSON.stringify({ ...kept(), proven: { ...PROOFS, ...over } }));
  const put = (text: string) => writeFileSync(file, text);
  const rows: readonly (readonly [string, () => void])[] = [
    ['is readable by others', () => chmodSync(file, 0o644)],
    ['is writable by others', () => chmodSync(file, 0o622)],
    ['is empty', () => put('')],
    ['is cut', () => put(readFileSync(file, 'utf8').slice(0, -5))],
    ['is no object', () => put('[]')],
    ['is null', () => put('null')],
    ['lacks an effect', () => spoilt({ refused: { signal: 'stopped' } })],
    ['lacks a kind of filter', () => spoilt({ refused: undefined })],
    ['does not say whether anybody listens', () => spoilt({ listener: 'yes' })],
    ['holds a word that is none', () => spoilt({ brokered: { ...STOPPED, signal: 'yes' } })],
    ['is larger than any', () => put(`${readFileSync(file, 'utf8')}${' '.repeat(70_000)}`)],
    [
      'is a link',
      () => {
        writeFileSync(join(place, 'elsewhere'), readFileSync(file), { mode: 0o600 });
        rmSync(file);
        symlinkSync('elsewhere', file);
      },
    ],
  ];
  it.each(rows)('are ignored when the file %s', (_name, spoil) => {
    writeProofs(place, KEY, PROOFS);
    spoil();
    expect(readProofs(place, KEY)).toBeUndefined();
  });

  it("are ignored when the file is another user's", (context) => {
    needsHere(context, 'root');
    writeProofs(place, KEY, PROOFS);
    chownSync(file, 4242, 4242);
    expect(readProofs(place, KEY)).toBeUndefined();
  });

  it('are not kept where they cannot be, and that is no error', () => {
    writeProofs(join(place, 'missing'), KEY, PROOFS);
    expect(readdirSync(place)).toEqual([]);
  });
});

describe('proofKey', () => {
  it('differs for another executable, another time of it, and another ABI', () => {
    const executable = join(place, 'cordon-exec');
    writeFileSync(executable, 'one');
    const keys = [proofKey(executable, 7), proofKey(executable, 6)];
    utimesSync(executable, 1, 1);
    keys.push(proofKey(executable, 7));
    expect(new Set(keys).size).toBe(3);
    expect(proofKey(executable, 7)).toBe(keys[2]);
  });
});
