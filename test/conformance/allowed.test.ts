import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FOREIGN_ID, give, PERSONAS, ROOT } from '../support/as-user.js';
import { effectsProgram } from '../support/build.js';
import { needs } from '../support/require.js';
import type { RunOptions, Settled } from '../support/runner.js';
import { leftInTemp } from '../support/temp.js';
import { differences, fillTree, snapshot, type World } from '../support/world.js';
import { Bench } from './attempt.js';

/** By Landlock, or by a read-only mount, which answers first; a mount that makes one file writable stays where it is. */
const REFUSED = /^refused (EACCES|EROFS|EBUSY)$/;

needs('landlock');

/** Effects that have to work beneath a writable root, with the tree there in the place of the outside one. */
const CHANGES = [
  'open-wronly',
  'open-rdwr',
  'open-append',
  'open-creat-excl',
  'creat-new',
  'creat-existing',
  'tmpfile-link',
  'mkdir',
  'rmdir',
  'unlink',
  'unlink-relative',
  'rename-same',
  'rename-across',
  'rename-out',
  'rename-over',
  'rename-in',
  'rename-directory',
  'rename-directory-in',
  'rename-exchange',
  'rename-exchange-outside',
  'link-same',
  'link-out',
  'link-in',
  'symlink',
  'mknod-fifo',
  'mknod-regular',
  'bind-socket',
  'mmap-shared',
  'fallocate',
  'punch-hole',
  'copy-file-range',
  'sendfile',
  'splice',
  'pwritev2',
  'truncate',
  'truncate-grow',
  'open-rdonly-trunc',
  'reopen-own-descriptor',
  'reopen-path-descriptor',
  'change-directory',
  'chmod',
  'chmod-directory',
  'fchmod',
  'chmod-descriptor-name',
  'chown',
  'utimes',
  'setxattr',
  'inode-flags',
  'rename-across-allowed',
  'link-across-allowed',
] as const;

/** What no confined run loses, in either mode. */
const ALWAYS = [
  'write-sinks',
  'use-temp',
  'read-outside',
  'own-abstract-server',
  'own-child-signal',
  'own-child-trace',
] as const;

const took = (settled: Settled): string => {
  const { result, error } = settled;
  if (result === undefined || error !== undefined) return `${error?.code}: ${error?.message}`;
  return `${result.stdout}`.trim();
};

const benches = [
  ...PERSONAS.map((persona) => ({ name: persona.name, bench: new Bench(persona) })),
  ...(ROOT === undefined
    ? []
    : [
        {
          name: 'root in a workspace of another owner',
          bench: new Bench(ROOT, { workspaceOwner: FOREIGN_ID }),
        },
      ]),
];

describe.each(benches)('$name', ({ bench }) => {
  let world: World;
  beforeEach(async () => {
    world = await bench.world();
  });
  afterEach(() => world.remove());
  afterAll(() => bench.close());

  const run = (
    effect: string,
    tree: string,
    options: RunOptions,
    program = effectsProgram(),
  ): Promise<Settled> =>
    bench.runner.confined(program, world.attempt(effect, tree), {
      workspace: world.workspace,
      cwd: world.workspace,
      ...options,
    });

  describe.each(CHANGES)('%s in the workspace', (effect) => {
    it('happens in workspace-write and shows', async () => {
      const outside = await world.lookOutside();
      const before = world.lookInside();
      const tree = join(world.workspace, 'tree');
      expect(took(await run(effect, tree, { mode: 'workspace-write' }))).toBe('took-place');
      expect(differences(before, world.lookInside())).not.toEqual([]);
      expect(differences(outside, await world.lookOutside())).toEqual([]);
    });
  });

  it.each(CHANGES)('%s in the workspace is refused in read-only', async (effect) => {
    const before = world.lookInside();
    const tree = join(world.workspace, 'tree');
    const answer = took(await run(effect, tree, { mode: 'read-only' }));
    expect(differences(before, world.lookInside())).toEqual([]);
    expect(answer).toMatch(/^refused (EACCES|EPERM|EROFS|EXDEV)$/);
  });

  describe.each(['read-only', 'workspace-write'] as const)('%s', (mode) => {
    it.each(ALWAYS)('%s works', async (effect) => {
      const outside = await world.lookOutside();
      expect(took(await run(effect, world.outside, { mode }))).toBe('took-place');
      expect(differences(outside, await world.lookOutside())).toEqual([]);
      expect(leftInTemp(bench.runner.temp)).toEqual([]);
    });

    it('grants a directory by allowWrite and nothing beside it', async () => {
      const granted = join(world.base, 'granted');
      fillTree(granted);
      for (const name of ['', ...readdirSync(granted)]) give(bench.persona, join(granted, name));
      const beside = `${granted}-not`;
      fillTree(beside);
      for (const name of ['', ...readdirSync(beside)]) give(bench.persona, join(beside, name));
      const options = { mode, allowWrite: [granted] };
      const before = snapshot(beside);
      expect(took(await run('open-creat-excl', granted, options))).toBe('took-place');
      expect(existsSync(join(granted, 'new'))).toBe(true);
      expect(took(await run('open-creat-excl', beside, options))).toMatch(REFUSED);
      expect(differences(before, snapshot(beside))).toEqual([]);
    });

    it('grants one file by allowWrite: its content, not its name', async () => {
      const options = { mode, allowWrite: [join(world.outside, 'file')] };
      expect(took(await run('open-wronly', world.outside, options))).toBe('took-place');
      expect(readFileSync(join(world.outside, 'file'), 'utf8')).toMatch(/^changed/);
      const after = snapshot(world.outside);
      expect(took(await run('unlink', world.outside, options))).toMatch(REFUSED);
      expect(took(await run('rename-same', world.outside, options))).toMatch(REFUSED);
      expect(took(await run('creat-new', world.outside, options))).toMatch(REFUSED);
      expect(differences(after, snapshot(world.outside))).toEqual([]);
    });

    it('may write no temp directory with temp none', async () => {
      const before = snapshot(bench.runner.temp);
      const { result } = await bench.runner.confined(
        '/bin/sh',
        ['-c', `: > ${bench.runner.temp}/x`],
        {
          mode,
          workspace: world.workspace,
          cwd: world.workspace,
          temp: 'none',
          reject: false,
        },
      );
      expect(differences(before, snapshot(bench.runner.temp))).toEqual([]);
      expect(result?.exitCode).not.toBe(0);
    });

    it('leaves nothing of the temp directory behind', async () => {
      const script = 'printf "%s\\n" "$TMPDIR" "$TMP" "$TEMP" "$TMPPREFIX"; mktemp; mktemp -d';
      const { result } = await bench.runner.confined('/bin/sh', ['-c', script], {
        mode,
        workspace: world.workspace,
        cwd: world.workspace,
      });
      const [directory = '', tmp, temp, prefix, file = '', made = ''] = `${result?.stdout}`.split(
        '\n',
      );
      expect(tmp).toBe(directory);
      expect(temp).toBe(directory);
      expect(prefix?.startsWith(`${directory}/`)).toBe(true);
      expect(Buffer.byteLength(directory.slice(directory.lastIndexOf('/') + 1))).toBeLessThan(31);
      expect(file.startsWith(`${directory}/`)).toBe(true);
      expect(made.startsWith(`${directory}/`)).toBe(true);
      expect(existsSync(directory)).toBe(false);
    });

    it('has no openat2, as an older kernel: its flags and mode cannot be seen', async () => {
      const tree = join(world.workspace, 'tree');
      expect(took(await run('openat2-rdwr', tree, { mode }))).toBe('refused ENOSYS');
    });

    it('runs the command with descriptors 0, 1 and 2 only', async () => {
      const { result } = await bench.runner.confined(effectsProgram(), ['descriptors'], {
        mode,
        workspace: world.workspace,
        cwd: world.workspace,
      });
      expect(result?.stdout).toBe('0\n1\n2');
    });

    it('starts the command with no signal blocked or ignored', async () => {
      const { result } = await bench.runner.confined(effectsProgram(), ['signals'], {
        mode,
        workspace: world.workspace,
        cwd: world.workspace,
      });
      expect(result?.stdout).toBe('blocked 0 ignored 0');
    });

    it('limits core files to one byte, which starts no handler either', async () => {
      const { result } = await bench.runner.confined(effectsProgram(), ['limits'], {
        mode,
        workspace: world.workspace,
        cwd: world.workspace,
      });
      expect(result?.stdout).toBe('core 1 1');
    });
  });

  it('needs no backend in danger-full-access, and says so', async () => {
    const { result } = await run('creat-new', world.outside, { mode: 'danger-full-access' });
    expect(existsSync(join(world.outside, 'new'))).toBe(true);
    expect(result?.stdout).toBe('took-place');
    expect(result?.enforcement?.level).toBe('unconfined');
  });

  it('keeps two parallel runs with different policies apart', async () => {
    const other = join(world.base, 'other-workspace');
    mkdirSync(other);
    give(bench.persona, other);
    const write = (workspace: string, target: string): Promise<Settled> =>
      bench.runner.confined('/bin/sh', ['-c', `echo x > ${target}`], {
        mode: 'workspace-write',
        workspace,
        cwd: workspace,
      });
    writeFileSync(join(other, 'here'), '');
    give(bench.persona, join(other, 'here'));
    const [own, foreign, back] = await Promise.all([
      write(other, join(other, 'own')),
      write(other, join(world.workspace, 'foreign')),
      write(world.workspace, join(other, 'back')),
    ]);
    expect(existsSync(join(other, 'own'))).toBe(true);
    expect(existsSync(join(world.workspace, 'foreign'))).toBe(false);
    expect(existsSync(join(other, 'back'))).toBe(false);
    expect(own.result?.outcome).toEqual({ kind: 'exited', code: 0 });
    for (const refused of [foreign, back]) expect(refused.result?.exitCode).not.toBe(0);
  });
});
