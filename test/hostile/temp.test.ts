import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { give, PERSONAS } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { OWN_MOUNTS, Runner } from '../support/runner.js';
import { expectRefusal, Stage } from '../support/stage.js';
import { leftInTemp } from '../support/temp.js';
import { until } from '../support/until.js';

needs('landlock');

/** Runs what follows in a mount namespace of its own, where TMPDIR is a tiny file system with these options. */
const onTinyTemp = (options: string): readonly string[] => [
  ...OWN_MOUNTS,
  'sh',
  '-c',
  `mount -t tmpfs -o mode=1777,${options} none "$TMPDIR" && exec "$@"`,
  'sh',
];

describe.each(PERSONAS)('$name', (persona) => {
  describe('a temp directory without a free inode', () => {
    const wrap = onTinyTemp('size=64k,nr_inodes=1');
    const stage = new Stage(persona, { wrap }).install('root');

    it('is an error of its own, and nothing starts', async () => {
      const settled = await stage.script('echo > started');
      expect(existsSync(stage.path('workspace/started'))).toBe(false);
      expectRefusal(settled, 'TEMP_UNAVAILABLE');
      expect(settled.error?.errno).toBe('ENOSPC');
      expect(settled.error?.message).toMatch(/space|temp/i);
    });

    it('does not matter with temp none', async () => {
      const { result } = await stage.script('echo > started', { temp: 'none' });
      expect(result?.outcome).toEqual({ kind: 'exited', code: 0 });
    });

    it('gives cordon run exit code 125', async () => {
      const ran = await stage.cordonRun(
        ['--mode', 'workspace-write'],
        ['sh', '-c', 'echo > started'],
      );
      expect(existsSync(stage.path('workspace/started'))).toBe(false);
      expect(ran.exitCode).toBe(125);
    });
  });

  describe('a temp directory that the run fills', () => {
    const stage = new Stage(persona, { wrap: onTinyTemp('size=64k') }).install('root');

    it('is emptied afterwards, and the next run works', async () => {
      const full = await stage.script('cat /dev/zero > "$TMPDIR/f"', { reject: false });
      expect(full.result?.exitCode).toBe(1);
      expect(full.result?.stderr).toMatch(/space/);
      const { result } = await stage.script('echo x > "$TMPDIR/f" && cat "$TMPDIR/f"');
      expect(result?.stdout).toBe('x');
    });
  });

  describe('what a run leaves in its temp directory', () => {
    const stage = new Stage(persona).install();

    it.each([
      ['unreadable directories', 'mkdir -p "$TMPDIR/a/b/c"; chmod 000 "$TMPDIR/a/b" "$TMPDIR/a"'],
      [
        'thousands of names',
        'cd "$TMPDIR" && for a in 1 2 3 4 5 6 7 8 9; do mkdir $a; touch $a/$(seq -s " $a/" 300); done',
      ],
      ['a deep tree', 'cd "$TMPDIR" && for n in $(seq 300); do mkdir d && cd d; done'],
      ['odd names', 'cd "$TMPDIR" && touch -- "-rf" "new\nline" " " "*"'],
      ['a temp directory without rights', 'chmod 000 "$TMPDIR"'],
    ])('%s: gone', async (_words, script) => {
      const { result, error } = await stage.script(script);
      expect(error?.message).toBeUndefined();
      expect(result?.outcome).toEqual({ kind: 'exited', code: 0 });
      expect(leftInTemp(stage.runner.temp)).toEqual([]);
    });

    it('links out of it are removed, not followed', async () => {
      const outside = stage.directory('outside');
      stage.file('outside/file', 'untouched\n');
      await stage.script(`ln -s ${outside} "$TMPDIR/link"; ln -s ${outside}/file "$TMPDIR/file"`);
      expect(readdirSync(outside)).toEqual(['file']);
      expect(leftInTemp(stage.runner.temp)).toEqual([]);
    });

    it('the directory itself replaced by a link: what the link names stays', async () => {
      const outside = stage.directory('outside');
      stage.file('outside/file', 'untouched\n');
      // Its parent is not writable for the run, so neither works; whatever is left is the run's own problem.
      const script = `rmdir "$TMPDIR" && ln -s ${outside} "$TMPDIR"; mv "$TMPDIR" "$TMPDIR.x"; true`;
      await stage.script(script);
      expect(readdirSync(outside)).toEqual(['file']);
    });
  });

  describe('a temp directory that is made ahead', () => {
    const stage = new Stage(persona).install();

    /** Path of the one that waits, once two runs have made it worth it. */
    async function ready(): Promise<string> {
      for (let run = 0; run < 2; run++) await stage.script('true');
      await until('one waits', () => readdirSync(stage.runner.temp).length === 1);
      return join(stage.runner.temp, readdirSync(stage.runner.temp)[0] ?? '');
    }
    const own = async (options = {}) =>
      (await stage.script('echo "$TMPDIR" && ls -A "$TMPDIR"', options)).result?.stdout;

    it("is the next run's, empty, and gone with it", async () => {
      const path = await ready();
      expect(await own()).toBe(path);
      expect(existsSync(path)).toBe(false);
    });

    it("is nobody's once another run has been at it", async () => {
      const path = await ready();
      await new Promise((resolve) => setTimeout(resolve, 20));
      const { result } = await stage.script(
        `for d in "${stage.runner.temp}"/*; do test "$d" = "$TMPDIR" || echo planted > "$d/planted"; done`,
        { allowWrite: [stage.runner.temp], temp: 'none' },
      );
      expect(result?.exitCode).toBe(0);
      expect(readdirSync(path)).toEqual(['planted']);
      const [other, ...names] = (await own())?.split('\n') ?? [];
      expect(other).not.toBe(path);
      expect(names).toEqual([]);
      rmSync(path, { recursive: true });
    });

    it('is not lost to a run that is refused', async () => {
      const path = await ready();
      expectRefusal(
        await stage.script('true', { require: ['write', 'network'] }),
        'ENFORCEMENT_TOO_WEAK',
      );
      expect(await own()).toBe(path);
    });

    it("is no unconfined run's", async () => {
      const path = await ready();
      const options = { mode: 'danger-full-access', workspace: undefined, temp: 'private' };
      expect(await own(options)).not.toContain(path);
      expect(await own()).toBe(path);
    });

    it('goes with the process', async () => {
      const runner = await new Runner(persona).ready();
      const { workspace } = stage;
      for (let run = 0; run < 2; run++) {
        await runner.confined('true', [], { workspace, cwd: workspace });
      }
      await until('one waits', () => readdirSync(runner.temp).length === 1);
      await runner.crash();
      await until('it is gone', () => readdirSync(runner.temp).length === 0);
      await runner.close();
    });
  });

  describe('a TMPDIR of the caller', () => {
    const stage = new Stage(persona).install();

    it.each(['missing', 'a file', 'closed', 'relative', 'a link', 'too long'] as const)(
      'that is %s: refused as what it is, or another place is used; nothing is left',
      async (kind) => {
        const places = {
          missing: stage.path('no/temp'),
          'a file': stage.file('plain', ''),
          closed: stage.directory('closed'),
          relative: 'workspace',
          'a link': stage.path('link'),
          'too long': stage.directory('x'.repeat(200)),
        } as const;
        chmodSync(stage.path('closed'), 0o555);
        symlinkSync(stage.directory('target'), stage.path('link'));
        const runner = new Runner(persona, { env: { TMPDIR: places[kind] } });
        const settled = await runner.confined(
          'sh',
          ['-c', 'test -d "$TMPDIR" && echo > "$TMPDIR/f" && echo "$TMPDIR"'],
          { mode: 'workspace-write', workspace: stage.workspace, cwd: stage.workspace },
        );
        await runner.close();
        if (kind === 'closed' && persona.uid !== 0) {
          expectRefusal(settled, 'TEMP_UNAVAILABLE');
          expect(settled.error?.message).toContain(places[kind]);
        } else {
          const path = `${settled.result?.stdout}`;
          expect(settled.error?.message).toBeUndefined();
          expect(path).toMatch(/^\/.*\/[^/]{1,30}$/);
          expect(existsSync(path)).toBe(false);
        }
        for (const name of ['closed', 'target', 'workspace', 'x'.repeat(200)]) {
          expect(readdirSync(stage.path(name))).toEqual([]);
        }
      },
    );
  });

  describe('what else lies beside the temp directories', () => {
    const stage = new Stage(persona).install();

    // A sweep that goes by a name's look would take these for its own.
    it.each([
      'cordon',
      'cordon-',
      'cordon-backup',
      'cordon-repository',
      'cordon-0123456789',
      'cordon-src2024',
      '.cordon',
    ])('a directory called %s survives the start of runs', async (name) => {
      const path = join(stage.runner.temp, name);
      mkdirSync(path);
      writeFileSync(join(path, 'precious'), 'untouched\n');
      for (const each of [path, join(path, 'precious')]) give(persona, each);
      // The first start of a process sweeps: a fresh one beside the stage's own.
      const next = new Runner(persona, { env: stage.runner.env });
      await next.confined('true', [], { workspace: stage.workspace, cwd: stage.workspace });
      await next.close();
      const content = readFileSync(join(path, 'precious'), { encoding: 'utf8', flag: 'r' });
      rmSync(path, { recursive: true });
      expect(content).toBe('untouched\n');
    });
  });
});
