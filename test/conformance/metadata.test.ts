import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { give, PERSONAS, type Persona } from '../support/as-user.js';
import { metadataProgram } from '../support/build.js';
import { needs } from '../support/require.js';
import { Runner } from '../support/runner.js';
import { differences, snapshot } from '../support/world.js';

needs('landlock', 'seccomp');

interface Case {
  readonly name: string;
  /** The call changes something where nobody hinders it. */
  readonly changes: boolean;
}

const CASES: readonly Case[] = execFileSync(metadataProgram(), ['list'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .map((line) => line.split(' '))
  .map(([name = '', kind]) => ({ name, changes: kind === 'changes' }));

/** What the supervisor cannot follow for its caller is refused, never guessed: documented. */
const NOT_FOLLOWED: ReadonlyMap<string, string> = new Map([
  ['chmod_other_process_descriptor', '-1 ELOOP'],
  ['chmod_self_directory', '-1 ELOOP'],
]);

/** A kernel without the call says so; every other refusal of a sandbox is one of these. */
const REFUSED = /^-1 (EACCES|EPERM|ELOOP)$/;

type Lines = ReadonlyMap<string, string>;

/** `CASE RESULT ERRNO NOTE`, a line each. */
function answers(output: string): Lines {
  const lines = output.trim().split('\n');
  return new Map(lines.map((line) => [line.split(' ', 1)[0] ?? '', line.replace(/^\S+ /, '')]));
}

/** A heading for each case, its files indented below. */
function states(output: string): Lines {
  const blocks = output.trim().split(/\n(?=\S)/);
  return new Map(blocks.map((block) => [block.split('\n', 1)[0] ?? '', block]));
}

/** What of the changes is the persona's to make without privileges: root has none within a run. */
function withoutPrivileges(persona: Persona): readonly string[] {
  if (persona.name !== 'root') return [];
  return [
    'setpriv',
    '--securebits=+noroot,+noroot_locked',
    '--bounding-set=-all',
    '--inh-caps=-all',
    '--',
  ];
}

describe.each(PERSONAS)('$name', (persona) => {
  let runner: Runner;
  let place: string;

  let untouched: Lines;
  let control: { readonly answers: Lines; readonly states: Lines };

  beforeAll(async () => {
    runner = await new Runner(persona).ready();
    place = mkdtempSync(join(runner.base, 'm-'));
    give(persona, place);
    const path = await made('control');
    untouched = await show(path);
    control = { answers: answers(await unconfined('run', path)), states: await show(path) };
  });
  afterAll(async () => {
    rmSync(place, { recursive: true, force: true });
    await runner.close();
  });

  async function unconfined(...args: readonly string[]): Promise<string> {
    const [file = '', ...rest] = [...withoutPrivileges(persona), metadataProgram(), ...args];
    const { stdout, stderr, exitCode } = await runner.unconfined(file, rest);
    if (exitCode !== 0) throw new Error(`metadata ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Files for every case. */
  async function made(name: string): Promise<string> {
    const path = join(place, name);
    mkdirSync(path);
    give(persona, path);
    await unconfined('make', path);
    return path;
  }

  async function show(path: string): Promise<Lines> {
    return states(await unconfined('show', path));
  }

  async function confined(
    operation: string,
    path: string,
    options: { readonly mode: 'read-only' | 'workspace-write'; readonly workspace: string },
  ): Promise<Lines> {
    const { result, error } = await runner.confined(metadataProgram(), [operation, path], {
      ...options,
      cwd: options.workspace,
      // What is judged here is the broker: read-only mounts would answer before it does.
      namespaces: 'never',
    });
    if (error !== undefined) throw new Error(`${error.message} ${result?.stderr}`);
    expect(result?.enforcement?.guarantees.metadata.status).toBe('prevented');
    return answers(`${result?.stdout}`);
  }

  const isKnown = (name: string): boolean => control.answers.get(name) !== '-1 ENOSYS';

  describe('unconfined', () => {
    it.each(CASES)('$name', ({ name, changes }) => {
      if (!isKnown(name)) return;
      const seen = control.states.get(name) !== untouched.get(name);
      expect(seen, control.answers.get(name)).toBe(changes);
      if (changes) expect(control.answers.get(name)).toMatch(/^0 /);
    });
  });

  describe('in the workspace, workspace-write: as without Cordon', () => {
    let inside: Lines;
    let after: Lines;
    let workspace: string;
    beforeAll(async () => {
      workspace = await made('inside');
      inside = await confined('run', workspace, { mode: 'workspace-write', workspace });
      after = await show(workspace);
    });

    it.each(CASES)('$name', ({ name }) => {
      const refused = NOT_FOLLOWED.get(name);
      expect(after.get(name)).toBe((refused ? untouched : control.states).get(name));
      expect(inside.get(name)).toBe(refused ?? control.answers.get(name));
    });

    it('files without a name', async () => {
      const plain = join(place, 'nameless');
      mkdirSync(plain);
      give(persona, plain);
      const expected = answers(await unconfined('run-nameless', plain));
      const options = { mode: 'workspace-write', workspace } as const;
      expect(await confined('run-nameless', workspace, options)).toEqual(expected);
    });
  });

  describe.each([
    { mode: 'read-only', where: 'outside' },
    { mode: 'read-only', where: 'the workspace' },
    { mode: 'workspace-write', where: 'outside' },
  ] as const)('$where, $mode: refused', ({ mode, where }) => {
    let refusals: Lines;
    let changed: readonly string[];
    let before: Lines;
    let after: Lines;
    beforeAll(async () => {
      const name = `${mode}-${where.split(' ').at(-1)}`;
      const target = await made(name);
      const other = join(place, `${name}-beside`);
      mkdirSync(other);
      give(persona, other);
      const workspace = where === 'outside' ? other : target;
      // Reading what a file holds moves its access time: before and after everything else.
      const seen = snapshot(target);
      before = await show(target);
      refusals = await confined('run', target, { mode, workspace });
      after = await show(target);
      changed = differences(seen, snapshot(target));
    });

    it('nothing changed, change times included', () => expect(changed).toEqual([]));

    it.each(CASES)('$name', ({ name, changes }) => {
      expect(after.get(name)).toBe(before.get(name));
      if (!isKnown(name) || !changes) return;
      expect(refusals.get(name)).toMatch(REFUSED);
    });
  });

  it('a program that may not be looked at is refused, and the record is said to be not whole', async () => {
    const hidden = join(place, 'execute-only');
    copyFileSync(metadataProgram(), hidden);
    chmodSync(hidden, 0o111);
    const workspace = await made('hidden');
    const before = await show(workspace);
    const run = (program: string) =>
      runner.confined(program, ['run', workspace], {
        mode: 'workspace-write',
        workspace,
        cwd: workspace,
        denials: 'on',
      });

    const refused = await run(hidden);
    expect(await show(workspace)).toEqual(before);
    const told = answers(`${refused.result?.stdout}`);
    for (const { name, changes } of CASES) {
      if (isKnown(name) && changes) expect(told.get(name), name).toMatch(REFUSED);
    }
    expect(told.get('chmod_absolute')).toBe('-1 EACCES');
    expect(refused.result?.denialsComplete).toBe(false);

    const allowed = await run(metadataProgram());
    expect(await show(workspace)).not.toEqual(before);
    expect(allowed.result?.denialsComplete).toBe(true);
  });

  it('beneath the temp directory everything works in read-only', async () => {
    const script = `set -e; cd "$TMPDIR"; echo x > f; ln -s f l; chmod 751 f; touch -d @1100000000 f
      touch -h -d @1200000000 l; setfattr -n user.one -v two f || test ! -x /usr/bin/setfattr
      stat -c '%a %Y' f; stat -c %Y l`;
    const { result, error } = await runner.confined('sh', ['-c', script], {
      mode: 'read-only',
      workspace: place,
      cwd: place,
    });
    expect(error?.message).toBeUndefined();
    expect(result?.stdout).toBe('751 1100000000\n1200000000');
  });

  /** The calls on a file handed in, where nobody hinders them; a container's filter may not know the newest of them. */
  async function onInput(name: string): Promise<readonly string[]> {
    const file = join(await made(name), 'chmod_absolute', 'file');
    const script = ['-c', '"$1" stdin < "$2"', 'sh', metadataProgram(), file];
    const { stdout } = await runner.unconfined('sh', script);
    return stdout.trim().split('\n');
  }

  it('a file handed in as standard input is nobody to change', async () => {
    const target = await made('handed');
    const unknown = (await onInput('handed-unconfined')).filter((line) => / -1 ENOSYS$/.test(line));
    const file = join(target, 'chmod_absolute', 'file');
    const seen = snapshot(target);
    const content = readFileSync(file, 'utf8');
    const script = `cat; for each in /dev/stdin /dev/fd/0 /proc/self/fd/0 /proc/thread-self/fd/0
      do chmod 600 $each && echo changed; touch -d @1 $each && echo changed; done 2>/dev/null
      "$1" stdin`;
    for (const mode of ['read-only', 'workspace-write'] as const) {
      for (const flags of ['r', 'r+', 'a']) {
        const fd = await runner.openFile(file, flags);
        const workspace = join(place, 'handed', 'chmod_relative');
        const { result } = await runner.confined('sh', ['-c', script, 'sh', metadataProgram()], {
          mode,
          workspace,
          cwd: workspace,
          stdio: [fd, 'pipe', 'pipe'],
          reject: false,
        });
        expect(differences(seen, snapshot(target)), `${mode} ${flags}`).toEqual([]);
        const lines = `${result?.stdout}`
          .replace(content, '')
          .trim()
          .split('\n')
          .filter((line) => !unknown.includes(line));
        expect(lines.filter((line) => !/^\w+ -1 (EACCES|EPERM)$/.test(line))).toEqual([]);
        expect(lines.length).toBeGreaterThan(5);
      }
    }
  });

  it('the control of that: unconfined each of them happens', async () => {
    const known = (await onInput('handed-control')).filter((line) => !/ -1 ENOSYS$/.test(line));
    expect(known.filter((line) => !/^\w+ 0 -$/.test(line))).toEqual([]);
    expect(known.length).toBeGreaterThan(5);
  });
});
