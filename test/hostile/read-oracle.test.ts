import { describe, expect, it, vi } from 'vitest';
import { classify } from '../../src/classify/classify.js';
import type { Token } from '../../src/classify/effect.js';
import { CHANGING } from '../../src/classify/git/changing.js';
import { FAMILIES } from '../../src/classify/git/families.js';
import { INSPECTING } from '../../src/classify/git/inspecting.js';
import type { OptionTable } from '../../src/classify/options.js';
import type { Surroundings } from '../../src/classify/part.js';
import { READING_PROGRAMS } from '../../src/classify/programs/reading.js';
import { shellFacts } from '../../src/facts/shell-facts.js';
import { PERSONAS, type Persona } from '../support/as-user.js';
import { Dice } from '../support/dice.js';
import { CommandMaker, type KnownOptions } from '../support/made-commands.js';
import { ReadOracle } from '../support/read-oracle.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { differences, snapshot } from '../support/world.js';

needs('landlock:6', 'seccomp');

/** How many commands are made for each user, and of which choices: more of them, or others, find more. */
const COMMANDS = Number(process.env.READ_ORACLE_COMMANDS ?? 2_000);
const SEED = Number(process.env.READ_ORACLE_SEED ?? 20_261);

/** The tables that calls are taken apart by: what the programs themselves look options up in. */
const recorded = vi.hoisted((): { tables: OptionTable[] } => ({ tables: [] }));
vi.mock('../../src/classify/options.js', async (original) => {
  const real = await original<typeof import('../../src/classify/options.js')>();
  const parseOptions: typeof real.parseOptions = (args, table) => {
    recorded.tables.push(table);
    return real.parseOptions(args, table);
  };
  return { ...real, parseOptions };
});

/** What they would change is no file, or they end when they are told to: nothing of either is seen here. */
const LEFT_OUT = new Set(
  `ip ifconfig arp sysctl dmesg hostname domainname dnsdomainname nisdomainname ypdomainname date stty sync yes sleep
   top watch iostat vmstat ping tput clear reset`.split(/\s+/),
);

const word = (value: string): Token => ({
  start: 0,
  end: value.length,
  text: value,
  value,
  prefix: value,
  splits: false,
});

function knownOptions(isHere: (name: string) => boolean): readonly KnownOptions[] {
  const names = Object.keys(READING_PROGRAMS).filter((name) => isHere(name) && !LEFT_OUT.has(name));
  return names.map((name) => {
    recorded.tables = [];
    for (const args of [[], ['a']]) {
      READING_PROGRAMS[name]?.({
        name,
        program: word(name),
        args: args.map(word),
        input: 'inherited',
      });
    }
    const rows = new Set(recorded.tables.flatMap((table) => [...table.rows]));
    return { name, rows: [...rows] };
  });
}

function surroundingsOf(stage: Stage, { uid }: Persona): Surroundings {
  const { workspace, runner } = stage;
  return {
    cwd: workspace,
    workspace,
    writable: [],
    home: runner.env.HOME,
    ...shellFacts({ cwd: workspace, env: runner.env, untrusted: [workspace], uid }),
  };
}

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  const innocent = Array.from({ length: 20 }, (_, at) => `cat notes.txt | head -n ${at}`);

  it('notices each command that writes among others that read', async () => {
    const oracle = new ReadOracle(stage);
    await oracle.layOut();
    const writing = [
      'echo x > made',
      'touch README.md',
      'git branch made',
      'git add notes.txt',
      'sed -i s/a/b/ notes.txt',
      'chmod 600 notes.txt',
      'git -c diff.autoRefreshIndex=true diff --no-ext-diff',
      'git stash',
    ];
    const faults = await oracle.faults([...innocent, ...writing, ...innocent]);
    expect(faults.map(({ command }) => command).toSorted()).toEqual(writing.toSorted());
    for (const command of writing) {
      const before = snapshot(stage.workspace);
      await stage.runner.unconfined('bash', ['-c', command], { cwd: stage.workspace });
      expect(differences(before, snapshot(stage.workspace)), command).not.toEqual([]);
    }
  });

  it('notices each program that is started and was not judged', async () => {
    const oracle = new ReadOracle(stage);
    await oracle.layOut();
    const starting = {
      './ls': 'planted',
      'PATH=.:$PATH; cat notes.txt': 'planted',
      'find . -maxdepth 0 -exec ./trap \\;': 'trap',
      'git log -1 --format=%G?': 'signature',
      'git log -p --ext-diff': 'external-diff',
      'git mine': 'alias',
      'git diff-files -p --ext-diff': 'external-diff',
      'git cat-file --filters HEAD:sub/inner.txt': 'filter',
      'git grep --textconv -e let -- src': 'textconv',
      'git archive --format=tar.gz HEAD': 'tar',
      'git hook run pre-commit': 'hook',
    };
    const faults = await oracle.faults([...Object.keys(starting), ...innocent]);
    for (const [command, mark] of Object.entries(starting)) {
      const what = faults.find((fault) => fault.command === command)?.what.join('\n');
      expect(what, command).toContain(`${oracle.marks}/${mark} `);
    }
    expect(faults).toHaveLength(Object.keys(starting).length);
  });

  it(`what is said to read only reads: ${COMMANDS} commands of seed ${SEED}`, async () => {
    const oracle = new ReadOracle(stage);
    await oracle.layOut();
    const surroundings = surroundingsOf(stage, persona);
    const isHere = (name: string) => surroundings.program?.(name)?.trusted === true;
    const vocabulary = {
      programs: knownOptions(isHere),
      subcommands: Object.entries({ ...INSPECTING, ...FAMILIES, ...CHANGING }),
    };
    expect(vocabulary.programs.length).toBeGreaterThan(40);
    const maker = new CommandMaker(vocabulary, new Dice(SEED + persona.uid));
    const commands = new Set(Array.from({ length: COMMANDS }, () => maker.next()));
    const reads = [...commands].filter((command) => classify(command, surroundings).readOnly);
    expect(reads.length).toBeGreaterThan(COMMANDS / 5);
    console.info(`${commands.size} commands, ${reads.length} of them read (seed ${SEED})`);
    expect(await oracle.faults(reads)).toEqual([]);
  }, 3_600_000);
});
