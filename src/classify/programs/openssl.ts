/**
 * openssl, as far as it prints: its version, its lists, digests, and what certificates say.
 * @module
 */

import type { Program } from '../effect.js';
import { is, judgeBy, type ProgramTable, plain, reading, valued } from './table.js';

const STYLE = {
  abbreviations: false,
  clusters: false,
  singleDash: true,
  permutes: false,
} as const;

const LISTS: ProgramTable = {
  rows: [
    ...plain('-help -a -b -c -d -e -f -m -o -p -r -v -V -1 -s -tls1 -tls1_1 -tls1_2 -tls1_3 -psk'),
    ...plain('-stdname -commands -digest-commands -cipher-commands -cipher-algorithms -verbose'),
    ...plain('-digest-algorithms -public-key-algorithms -disabled -standard-commands'),
  ],
  ...STYLE,
  operands: 'nothing',
};

const DIGEST: ProgramTable = {
  rows: [
    ...plain('-help -c -r -hex -binary -md5 -sha1 -sha224 -sha256 -sha384 -sha512 -sha3-256 -list'),
    ...plain('-sha3-512 -blake2b512 -blake2s256'),
  ],
  ...STYLE,
  operands: 'reads',
};

const CERTIFICATE: ProgramTable = {
  rows: [
    ...plain('-help -noout -text -subject -issuer -dates -startdate -enddate -fingerprint -serial'),
    ...plain('-pubkey -hash -subject_hash -issuer_hash -modulus -email -purpose -ocsp_uri -verify'),
    ...plain('-md5 -sha1 -sha256 -sha512 -alias'),
    ...valued('-inform -nameopt -certopt -ext -checkend -checkhost -checkip'),
    ...reading('-in'),
  ],
  ...STYLE,
  operands: 'nothing',
};

const COMMANDS: ReadonlyMap<string, ProgramTable> = new Map([
  ['version', LISTS],
  ['list', LISTS],
  ['ciphers', LISTS],
  ['help', LISTS],
  ['dgst', DIGEST],
  ['md5', DIGEST],
  ['sha1', DIGEST],
  ['sha256', DIGEST],
  ['sha512', DIGEST],
  ['x509', CERTIFICATE],
]);

const OPENSSL: Program = (call) => {
  const [command, ...args] = call.args;
  const word = command ?? call.program;
  const table = COMMANDS.get(command?.value ?? '');
  if (table !== undefined) return judgeBy(table, { ...call, args });
  return { effects: [is(word, 'unknown', `\`${word.text}\` is nothing that only prints`)] };
};

export const OPENSSL_PROGRAMS: Readonly<Record<string, Program>> = { openssl: OPENSSL };
