import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Invocation } from '../../../src/cli/arguments.js';
import { readPlainly } from '../../../src/cli/arguments.js';
import { ParsingEnded, program } from '../../../src/cli/program.js';
import { RUN_ROWS } from '../../../src/cli/run-options.js';

const FLAGS = new Map(RUN_ROWS.map((row) => [row.flag, row.takes !== undefined]));

interface Parsed {
  readonly name?: string;
  readonly invocation?: Invocation;
  readonly exitCode?: number;
  readonly complaint: string;
}

/** What the command tree makes of the arguments. */
async function throughTree(argv: readonly string[]): Promise<Parsed> {
  let called: { name: string; invocation: Invocation } | undefined;
  let complaint = '';
  const { parse } = program(
    async (name, invocation) => {
      called = { name, invocation };
      return 0;
    },
    {
      version: '1.2.3',
      output: {
        result: () => {},
        usage: () => {},
        complaint: (text) => {
          complaint += text;
        },
      },
    },
  );
  try {
    await parse(argv);
  } catch (error) {
    if (!(error instanceof ParsingEnded)) throw error;
    return { exitCode: error.exitCode, complaint };
  }
  return { ...called, complaint };
}

describe('the command tree', () => {
  const rows: [string, string[], string[]][] = [
    ['-- ends the options', ['run', '--', 'ls', '-la'], ['ls', '-la']],
    ['the first operand ends them too', ['run', 'ls', '--json', '-la'], ['ls', '--json', '-la']],
    [
      'options of ours after the command are its own',
      ['run', 'ls', '--mode', 'x'],
      ['ls', '--mode', 'x'],
    ],
    ['a second -- is the command', ['run', '--', '--', 'x'], ['--', 'x']],
    [
      '-- behind the command stays',
      ['run', 'git', 'log', '--', 'file'],
      ['git', 'log', '--', 'file'],
    ],
    ['an empty argument stays', ['run', '--', 'printf', ''], ['printf', '']],
    ['a lone - is a command', ['run', '-', 'x'], ['-', 'x']],
    [
      'the command may look like one of ours',
      ['run', '--', 'help', '--version'],
      ['help', '--version'],
    ],
  ];
  it.each(rows)('%s', async (_name, argv, operands) => {
    const { name, invocation } = await throughTree(argv);
    expect(name).toBe('run');
    expect(invocation?.operands).toEqual(operands);
  });

  it('keeps every text of every option', async () => {
    const { invocation } = await throughTree([
      ...['run', '--allow-write', 'a', '--allow-write=b', '--mode', 'read-only', '--', 'x'],
    ]);
    expect(invocation?.given.get('--allow-write')).toEqual(['a', 'b']);
    expect(invocation?.given.get('--mode')).toEqual(['read-only']);
  });

  it('reads --json of a reading command', async () => {
    expect((await throughTree(['policy', '--json'])).invocation?.json).toBe(true);
    expect((await throughTree(['policy'])).invocation?.json).toBe(false);
  });

  it('leaves the words of explain to the command, which knows the nearest one', async () => {
    const { name, invocation } = await throughTree(['explain', '--json', 'wirte', 'x']);
    expect(name).toBe('explain');
    expect(invocation).toMatchObject({ json: true, operands: ['wirte', 'x'] });
  });

  const wrong: [string, string[], number, string][] = [
    ['an unknown option of run', ['run', '--mod', 'x', '--', 'ls'], 125, 'Did you mean --mode'],
    ['an option without its value', ['run', '--mode'], 125, 'argument missing'],
    ['an unknown option elsewhere', ['policy', '--jsn'], 2, 'Did you mean --json'],
    ['an unknown command', ['inspekt'], 2, 'Did you mean inspect'],
    ['an operand too many', ['policy', 'x'], 2, 'too many arguments'],
    ['a shell nobody wrote for', ['completion', 'tcsh'], 2, 'bash, zsh, fish'],
    ['no shell', ['completion'], 2, 'missing required argument'],
    ['explain without a path', ['explain', 'write'], 2, 'missing required argument'],
    ['explain of two paths', ['explain', 'write', 'a', 'b'], 2, 'too many arguments'],
    ['nothing at all', [], 2, ''],
  ];
  it.each(wrong)('refuses %s', async (_name, argv, exitCode, words) => {
    const parsed = await throughTree(argv);
    expect(parsed.invocation).toBeUndefined();
    expect(parsed.exitCode).toBe(exitCode);
    expect(parsed.complaint).toContain(words);
  });

  const helped: string[][] = [
    ['--help'],
    ['help'],
    ['help', 'run'],
    ['run', '--help'],
    ['--version'],
  ];
  it.each(helped.map((argv) => [argv]))('%j exits with 0', async (argv) => {
    expect((await throughTree(argv)).exitCode).toBe(0);
  });
});

describe('the short way', () => {
  it('leaves every doubtful case to the tree', () => {
    const doubtful = [
      [],
      ['--'],
      ['--help'],
      ['-h'],
      ['--mod', 'x', 'ls'],
      ['--mode'],
      ['--mode', '--', 'ls'],
      ['--mode', 'read-only'],
      ['-x', 'ls'],
    ];
    for (const argv of doubtful) expect(readPlainly(argv, FLAGS)).toBeUndefined();
  });

  it('agrees with the tree on whatever it reads', async () => {
    const token = fc.oneof(
      fc.constantFrom(
        ...FLAGS.keys(),
        '--',
        '-',
        '--json',
        '--mod',
        '-x',
        '',
        'ls',
        'read-only',
        '--mode=',
        '-1',
        'run',
      ),
      fc.constantFrom(...FLAGS).map((flag) => `${flag}=a=b`),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(token, { maxLength: 7 }), async (argv) => {
        const plain = readPlainly(argv, FLAGS);
        if (plain === undefined) return;
        const { invocation } = await throughTree(['run', ...argv]);
        expect(invocation).toEqual(plain);
      }),
      { numRuns: 2000 },
    );
  });
});
