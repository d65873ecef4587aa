import { describe } from 'vitest';
import { FOREIGN_ID, ORDINARY, PERSONAS, ROOT } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { Bench } from './attempt.js';
import { EFFECTS, type Effect } from './battery.js';
import { declareBattery } from './declare.js';

needs('landlock');

/** What the filter and the broker carry is the same program's work however it was started: a few of each will do. */
const FEW = 3;
const FILTERED: readonly string[] = ['metadata', 'unix-sockets', 'set-id', 'shared-memory'];

function isAmongFew({ guarantee, name }: Effect): boolean {
  if (!FILTERED.includes(guarantee)) return true;
  const alike = EFFECTS.filter((effect) => effect.guarantee === guarantee);
  return alike.slice(0, FEW).some((effect) => effect.name === name);
}

describe.each(PERSONAS)('$name', (persona) => {
  const bench = new Bench(persona);
  describe('confine', () => declareBattery(bench, 'served'));
  describe('prepare', () =>
    declareBattery(bench, 'one-shot', { rows: EFFECTS.filter(isAmongFew) }));

  describe('full, where nothing is protected', () => {
    needs('landlock:6', 'seccomp');
    declareBattery(bench, 'served', {
      modes: ['workspace-write'],
      policy: { sharedMemory: 'none', protect: 'none', require: 'full' },
      level: 'full',
    });
  });
});

// Root keeps capabilities for a workspace of another owner: everything else must hold all the same.
describe('root in a workspace of another owner', () => {
  needs('root');
  const bench = new Bench(ROOT ?? ORDINARY, { workspaceOwner: FOREIGN_ID });
  declareBattery(bench, 'served', { modes: ['workspace-write'] });
});
