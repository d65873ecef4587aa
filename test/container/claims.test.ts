/**
 * What is claimed in this container for each policy, and whether it is true.
 * @module
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, describe, expect, it } from 'vitest';
import type { Enforcement, GuaranteeReport } from '../../src/schema/enforcement.js';
import type { Proving } from '../../src/schema/proving.js';
import { GUARANTEES, type Guarantee } from '../../src/schema/vocabulary.js';
import { needs } from '../support/require.js';
import { paragraph, record } from './record.js';
import { inWorkspace } from './workspace.js';

needs('landlock', 'seccomp');

const OWN = ['--shared-memory', 'none'];
const WRITE = ['--mode', 'workspace-write'];
const POLICIES: Readonly<Record<string, readonly string[]>> = {
  'read-only': [],
  'read-only, own memory': OWN,
  'workspace-write': [...WRITE, ...OWN],
  'nothing protected': [...WRITE, ...OWN, '--protect', 'none'],
};
const WIDTH = 24;

const { kernel } = createRequire(import.meta.url)('../../build/Release/cordon.node') as {
  kernel(): { readonly landlockAbi: number };
};

/** As in the table by ABI: the first letters of the mechanisms that prevent it. */
function claim({ status, by }: GuaranteeReport): string {
  if (status !== 'prevented') return { absent: '-', 'not-promised': '.', detected: 'det' }[status];
  return by.map((mechanism) => mechanism.slice(0, 1)).join('');
}

const proved = new Map<string, Proving>();

afterAll(() => {
  const names = [...proved.keys()];
  const row = (title: string, cells: readonly string[]): string =>
    `${title.padEnd(18)}${cells.map((cell) => cell.padEnd(WIDTH)).join('')}`.trimEnd();
  const cell = (guarantee: Guarantee) => (proving: Proving) =>
    `${claim(proving.enforcement.guarantees[guarantee]).padEnd(4)}${proving.guarantees[guarantee].verdict}`;
  const all = [...proved.values()];
  const idle = all.flatMap(({ guarantees }) =>
    GUARANTEES.flatMap((name) => guarantees[name].attempts)
      .filter(({ unconfined }) => unconfined === 'stopped')
      .map(({ effect }) => effect),
  );
  record('claims.txt', [
    row('', names),
    ...GUARANTEES.map((guarantee) => row(guarantee, all.map(cell(guarantee)))),
    row(
      'level',
      all.map(({ enforcement }) => enforcement.level),
    ),
    '',
    ...paragraph('prove finds already stopped by the container', [...new Set(idle)].sort()),
  ]);
});

describe.each(Object.entries(POLICIES))('%s', (name, flags) => {
  const place = inWorkspace();
  const json = async <Value>(command: string): Promise<Value> => {
    const { stdout, exitCode } = await place.cordon([command, ...flags, '--json'], {
      reject: false,
    });
    expect(exitCode, stdout).toBe(0);
    return JSON.parse(stdout) as Value;
  };

  it('prove: every claim holds, and inspect and a run claim the same', async () => {
    const proving = await json<Proving>('prove');
    expect(proving.holds).toBe(true);
    proved.set(name, proving);

    const inspected = await json<{ readonly enforcement: Enforcement }>('inspect');
    expect(inspected.enforcement).toEqual(proving.enforcement);

    const path = join(place.outside, 'report.json');
    await place.cordon(['run', ...flags, '--report', path, '--', 'true']);
    const report = JSON.parse(readFileSync(path, 'utf8')) as { readonly enforcement: Enforcement };
    expect(report.enforcement).toEqual(proving.enforcement);
  });

  it('a requirement that is met starts the command, one that is not starts nothing', async () => {
    const { enforcement } = await json<Proving>('inspect');
    const required = ['run', ...flags, '--require', 'full', '--', 'sh', '-c', 'echo started'];
    const { exitCode, stdout, stderr } = await place.cordon(required, { reject: false });
    expect(stdout).toBe(enforcement.level === 'full' ? 'started' : '');
    expect(exitCode).toBe(enforcement.level === 'full' ? 0 : 125);
    if (enforcement.level !== 'full') expect(stderr).toMatch(/full/);
  });
});

it('nothing of this container is privileged, or relaxed', async () => {
  const { stdout } = await execa('cat', ['/proc/self/status']);
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(stdout)?.[1];
  const SYS_ADMIN = 1n << 21n;
  expect(BigInt(`0x${field('CapBnd')}`) & SYS_ADMIN).toBe(0n);
  expect(field('Seccomp')).toBe('2');
  // Under the profile's own name nothing tells one filter from the other but what it refuses.
  const userNamespace = await execa('unshare', ['--user', 'true'], { reject: false });
  record('kernel.json', [JSON.stringify(kernel())]);
  record('container.txt', [
    `user namespaces: ${userNamespace.exitCode === 0 ? 'can be made' : 'refused'}`,
  ]);
});
