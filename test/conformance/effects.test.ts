import { describe } from 'vitest';
import { FOREIGN_ID, PERSONAS, ROOT } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { Bench } from './attempt.js';
import { EFFECTS } from './battery.js';
import { declareBattery } from './declare.js';

needs('landlock');

describe.each(PERSONAS)('$name', (persona) => {
  describe('confine', () => declareBattery(new Bench(persona), 'served'));
  describe('prepare', () => declareBattery(new Bench(persona), 'one-shot'));
});

// Root keeps capabilities for a workspace of another owner: everything else must hold all the same.
describe.runIf(ROOT !== undefined)('root in a workspace of another owner', () => {
  if (ROOT === undefined) return;
  const bench = new Bench(ROOT, { workspaceOwner: FOREIGN_ID });
  declareBattery(bench, 'served', EFFECTS, ['workspace-write']);
});
