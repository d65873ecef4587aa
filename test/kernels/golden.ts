/**
 * The golden table: what is enforced on each kernel, and what could not be tried there.
 * @module
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Enforcement } from '../../src/schema/enforcement.js';
import { GUARANTEES } from '../../src/schema/vocabulary.js';
import { type GuestResults, PLACES } from './guest-results.js';

const FILE = join(dirname(fileURLToPath(import.meta.url)), '..', 'golden', 'kernels.txt');

const HEADER = `What Cordon enforces on real kernels, with --shared-memory none: the mechanisms of each guarantee that is
prevented, else its status; "-" is not promised. Beneath: where it was tried, and which effects of the battery do
not take place there without confinement either. Written by: npm run test:kernels -- --update
`;

export const MODES = ['read-only', 'workspace-write'] as const;

/** Of Cordon when it refuses. */
const EXIT_OURS = 125;
const COLUMN = 28;

export const USERS = [
  { name: 'root', uid: 0 },
  { name: 'ordinary', uid: 1000 },
] as const;
export type User = (typeof USERS)[number];

/** Headings of the table, and the section of the guest with each. */
const COLUMNS = [
  { heading: 'read-only', section: 'read-only report' },
  { heading: 'workspace-write', section: 'workspace-write report' },
  { heading: 'and --protect none', section: 'unprotected' },
] as const;

/** What the table says of a kernel. */
export function entryOf(results: GuestResults, untried: (user: User) => readonly string[]): string {
  if (USERS.every((user) => startsNothing(results, user))) {
    return 'nothing starts: SANDBOX_UNAVAILABLE';
  }
  const tried = PLACES.filter((place) => isThere(results, place));
  return [
    `tried on ${tried.join(', ')}`,
    ...PLACES.filter((place) => !tried.includes(place)).map(
      (place) => `not tried on ${place}: ${results.section(place).text.trim()}`,
    ),
    ...forEachUser((user) => [...tableOf(results, user), ...provedOf(results, user)]),
    'no effect without confinement either:',
    ...together(untried),
  ].join('\n');
}

/** Every way to start something refuses; `prove` is the witness. */
export function startsNothing(results: GuestResults, { uid }: User): boolean {
  return MODES.every((mode) => results.section(`${uid} ${mode} prove`).status === EXIT_OURS);
}

export function isThere(results: GuestResults, place: (typeof PLACES)[number]): boolean {
  return place === 'tmpfs' || results.section(place).status === 0;
}

/** Said once where it is the same of both. */
function forEachUser(say: (user: User) => readonly string[]): string[] {
  const [root, ordinary] = USERS.map((user) => say(user).join('\n'));
  if (root === ordinary) return [`${USERS.map(({ name }) => name).join(' and ')}:\n${root}`];
  return [`root:\n${root}`, `ordinary:\n${ordinary}`];
}

/** Line by line, with the user where it is one's only. */
function together(say: (user: User) => readonly string[]): string[] {
  const said = USERS.map((user) => ({ user, lines: say(user) }));
  const all = new Set(said.flatMap(({ lines }) => lines));
  return [...all].map((line) => {
    const by = said.filter(({ lines }) => lines.includes(line));
    return by.length === USERS.length ? `  ${line}` : `  ${line}, ${by[0]?.user.name}`;
  });
}

function tableOf(results: GuestResults, { uid }: User): string[] {
  const reports = COLUMNS.map(({ section }) => results.enforcement(`${uid} ${section}`));
  const abis = new Set(reports.map((report) => report?.abi));
  const row = (first: string, cells: readonly string[]): string =>
    `  ${first.padEnd(18)}${cells.map((cell) => cell.padEnd(COLUMN)).join('')}`.trimEnd();
  return [
    row(
      `ABI ${[...abis].join(', ')}`,
      COLUMNS.map(({ heading }) => heading),
    ),
    row(
      'level',
      reports.map((report) => report?.level ?? 'none'),
    ),
    ...GUARANTEES.map((guarantee) =>
      row(
        guarantee,
        reports.map((report) => cellOf(report?.guarantees[guarantee])),
      ),
    ),
  ];
}

function cellOf(
  report: Enforcement['guarantees'][keyof Enforcement['guarantees']] | undefined,
): string {
  if (report === undefined || report.status === 'not-promised') return '-';
  return report.status === 'prevented' ? report.by.join('+') : report.status;
}

function provedOf(results: GuestResults, { uid }: User): string[] {
  return MODES.map((mode) => {
    const { holds, guarantees } = results.proving(`${uid} ${mode} prove`);
    const open = GUARANTEES.filter((each) => guarantees[each].verdict === 'not-shown');
    const words = holds ? 'every claim holds' : 'a claim is false';
    return `  prove ${mode}: ${words}${open.length > 0 ? `; not shown: ${open.join(', ')}` : ''}`;
  });
}

/** What the table says now; empty when it knows no such kernel. */
export function goldenEntry(kernel: string): string {
  return readEntries().get(kernel) ?? '';
}

/** Kernels that are not given stay as they are. */
export function writeGolden(fresh: ReadonlyMap<string, string>, order: readonly string[]): void {
  const entries = new Map([...readEntries(), ...fresh]);
  const known = order.filter((name) => entries.has(name));
  const text = known.map((name) => `\n== ${name}\n${entries.get(name)}\n`).join('');
  writeFileSync(FILE, `${HEADER}${text}`);
}

function readEntries(): Map<string, string> {
  const text = existsSync(FILE) ? readFileSync(FILE, 'utf8') : '';
  const [, ...parts] = text.split(/^== /m);
  return new Map(
    parts.map((part) => {
      const [name = '', ...lines] = part.split('\n');
      return [name, lines.join('\n').trimEnd()];
    }),
  );
}
