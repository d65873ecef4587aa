import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Program, Token } from '../../src/classify/effect.js';
import { CHANGING } from '../../src/classify/git/changing.js';
import { FAMILIES } from '../../src/classify/git/families.js';
import { GIT_PROGRAMS } from '../../src/classify/git/git.js';
import { INSPECTING } from '../../src/classify/git/inspecting.js';
import { HOST_PROGRAMS } from '../../src/classify/programs/host.js';
import { NETWORK_PROGRAMS } from '../../src/classify/programs/network.js';
import { PACKAGE_PROGRAMS } from '../../src/classify/programs/packages.js';
import { POWERSHELL_PROGRAMS } from '../../src/classify/programs/powershell.js';
import { SHELL_PROGRAMS } from '../../src/classify/programs/shells.js';
import { STARTER_PROGRAMS } from '../../src/classify/programs/starters.js';
import { onlyReads } from '../support/judged.js';
import { known, open } from '../support/tokens.js';

const PROGRAMS: Readonly<Record<string, Program>> = {
  ...GIT_PROGRAMS,
  ...HOST_PROGRAMS,
  ...NETWORK_PROGRAMS,
  ...PACKAGE_PROGRAMS,
  ...POWERSHELL_PROGRAMS,
  ...SHELL_PROGRAMS,
  ...STARTER_PROGRAMS,
};

const SUBCOMMANDS = [INSPECTING, FAMILIES, CHANGING].flatMap((table) => Object.entries(table));

/** Words that mean something to git, or to those that start others. */
const VOCABULARY: readonly string[] = [
  ...SUBCOMMANDS.flatMap(([name, subcommand]) =>
    'verbs' in subcommand ? [name, ...Object.keys(subcommand.verbs)] : [name],
  ),
  ...new Set(
    SUBCOMMANDS.flatMap(([, subcommand]) =>
      'verbs' in subcommand
        ? [...subcommand.alone, ...Object.values(subcommand.verbs).flat()]
        : subcommand,
    ).flatMap(({ options }) =>
      options === 'any' ? [] : options.flatMap(({ names }) => [...names]),
    ),
  ),
  ...'-C -c -p --git-dir --exec-path -n -k -s -I -i -a -u -S -l -0 -9 -- - 5 HEAD a.b {}'.split(
    ' ',
  ),
  ...'--output=x --format=%G? core.pager=x LC_ALL=C PATH=. ls rm -delete +x'.split(' '),
];

const word = fc.oneof(
  fc.constantFrom(...VOCABULARY).map(known),
  fc.constantFrom(...VOCABULARY).map(known),
  fc.string().map(known),
  fc
    .tuple(fc.constantFrom(...VOCABULARY, ''), fc.boolean())
    .map(([prefix, splits]) => open(splits ? '' : prefix, splits)),
);

const call = fc.record({
  name: fc.oneof(fc.constant('git'), fc.constantFrom(...Object.keys(PROGRAMS))),
  args: fc.array(word, { maxLength: 6 }),
});

function judge(name: string, args: readonly Token[]) {
  const program = PROGRAMS[name];
  if (program === undefined) throw new Error(`${name} is in no table`);
  return program({ name, program: known(name), args, input: 'inherited' });
}

describe('the tables of programs', () => {
  it('say something of any words', () => {
    fc.assert(
      fc.property(call, ({ name, args }) => {
        expect(Array.isArray(judge(name, args).effects)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  it('call nothing a read because less is known of it', () => {
    fc.assert(
      fc.property(call, fc.nat(), fc.nat(), (command, which, length) => {
        const { name, args } = command;
        const at = args.length === 0 ? 0 : which % args.length;
        const value = args[at]?.value;
        fc.pre(value !== undefined && !onlyReads(judge(name, args)));
        const prefix = (value ?? '').slice(0, length % ((value?.length ?? 0) + 1));
        const hidden = args.map((each, index) => (index === at ? open(prefix) : each));
        expect(onlyReads(judge(name, hidden))).toBe(false);
      }),
      { numRuns: 5000 },
    );
  });
});
