import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ORDINARY, ROOT } from '../support/as-user.js';
import { fuseProgram } from '../support/build.js';
import { nothingLives } from '../support/processes.js';
import { OWN_MOUNTS, type Unconfined } from '../support/runner.js';
import { Stage } from '../support/stage.js';
import { leftInTemp } from '../support/temp.js';
import { until } from '../support/until.js';

/** Beyond these calls on files wait at once, further ones are refused. */
const MOST_FILE_WORKERS = 96;

/** `change FILE [COUNT]`: chmod and nothing else, by COUNT processes; chmod(1) looks at the file before. */
const CHANGE = `change() {
  python3 -c 'import os, sys
for _ in range(int(sys.argv[2]) - 1):
    if os.fork() == 0: break
try: os.chmod(sys.argv[1], 0o600); print("changed", os.path.basename(sys.argv[1]))
except OSError as error: print(os.strerror(error.errno))' "$1" "\${2:-1}"
}
`;

describe('a file system in user space', () => {
  const stage = new Stage(ROOT ?? ORDINARY, { wrap: OWN_MOUNTS }).install(
    'landlock',
    'seccomp',
    'root',
    'fuse',
  );

  /** Mounts, runs a script that has `$run`, which confines, and unmounts: what still waits there is let go. */
  async function mounted(script: string, options: readonly string[] = []): Promise<Unconfined> {
    const place = stage.directory('mounted');
    const confined = stage.runner.commandLine(['run', ...options, '--']);
    const whole = `"$1" "$2"; cd "$3"; shift 3; ${script}\numount -f ../mounted 2>/dev/null || umount -l ../mounted`;
    const args = [fuseProgram(), place, stage.workspace, ...confined];
    return stage.runner.unconfined('sh', ['-c', whole, 'sh', ...args]);
  }

  // Of a file without a name nobody else knows; whoever serves a file may say that it has no links.
  it.each(['read-only', 'workspace-write'])(
    '%s: a file that counts no links has a name all the same',
    async (mode) => {
      const script = `file=../mounted/file
      stat -c '%a %h' $file; chmod 640 $file; stat -c %a $file
      "$@" chmod 600 $file 2>/dev/null || echo refused; stat -c %a $file`;
      const ran = await mounted(script, ['--mode', mode]);
      expect(ran.stdout.trim().split('\n'), ran.stderr).toEqual(['644 0', '640', 'refused', '640']);
    },
  );

  describe('that never answers', () => {
    let marker = '';
    const workspaceWrite = (...more: readonly string[]): readonly string[] => [
      ...['--mode', 'workspace-write', '--allow-write', stage.path('mounted')],
      ...more,
    ];
    /** Runs a script in the workspace, confined; an argument of its marks what belongs to it. */
    const newMarker = (): string => `hung-${process.pid}-${Math.floor(performance.now())}-end`;
    const inside = (script: string): string => {
      marker = newMarker();
      return `"$@" sh -c '${CHANGE.replaceAll("'", `'"'"'`)}${script}' ${marker}`;
    };
    afterEach(async () => {
      if (marker !== '') await nothingLives(marker);
      // The guard removes it once the last process is let go, which nobody waits for.
      await until('the temp directory is gone', () => leftInTemp(stage.runner.temp).length === 0);
    });

    it('is one: without Cordon the call waits as well', async () => {
      const ran = await mounted(`${CHANGE} change ../mounted/file
      timeout 1 python3 -c 'import os; os.chmod("../mounted/hangs", 0o600)'; echo $?`);
      expect(ran.stdout.trim().split('\n'), ran.stderr).toEqual(['changed file', '124']);
    });

    it.each(['hangs', 'dead'])('%s: other calls go on, and the run ends in time', async (name) => {
      const before = performance.now();
      const script = inside(`change ../mounted/${name} & sleep 0.5; change ../mounted/file
      touch a; chmod 640 a; stat -c %a a; change a; stat -c %a a; wait; echo never`);
      const ran = await mounted(`${script}; echo $?`, workspaceWrite('--timeout', '3'));
      const lines = ['changed file', '640', 'changed a', '600', '124'];
      expect(ran.stdout.trim().split('\n'), ran.stderr).toEqual(lines);
      // What nothing can end, and is waited for 5 s, is let go by the end of the mount.
      expect(performance.now() - before).toBeLessThan(name === 'dead' ? 20_000 : 6_000);
    });

    it('entered as the current directory', async () => {
      const script = inside(`cd ../mounted; change hangs & sleep 0.5; cd ../workspace
      touch a; change a; change ../mounted/file; wait; echo never`);
      const ran = await mounted(`${script}; echo $?`, workspaceWrite('--timeout', '3'));
      const lines = ['changed a', 'changed file', '124'];
      expect(ran.stdout.trim().split('\n'), ran.stderr).toEqual(lines);
    });

    it('a call that waits is ended by a signal, and the run goes on', async () => {
      const script = inside(`timeout 1 python3 -c "import os
os.chmod(\\"../mounted/hangs\\", 0o600)"; echo $?; touch a; change a`);
      const ran = await mounted(`${script}; echo $?`, workspaceWrite());
      expect(ran.stdout.trim().split('\n'), ran.stderr).toEqual(['124', 'changed a', '0']);
    });

    it('so many calls wait that no more can: further ones are told, others go on', async () => {
      const more = 4;
      const script = inside(`change ../mounted/hangs ${MOST_FILE_WORKERS + more} & sleep 2
      touch a; change a; sleep 60; echo never`);
      const ran = await mounted(`${script}; echo $?`, workspaceWrite('--timeout', '5'));
      const lines = ran.stdout.trim().split('\n');
      const isRefusal = (line: string): boolean => line === 'Resource temporarily unavailable';
      expect(lines.filter(isRefusal), ran.stderr).toHaveLength(more);
      expect(lines.filter((line) => !isRefusal(line))).toEqual(['changed a', '124']);
    });

    it('observed: what is looked at waits, and nothing else', async () => {
      const script = inside(`echo x > ../mounted/hangs & sleep 0.5; echo y > b; cat b
      wait; echo never`);
      const on = workspaceWrite('--denials', 'on', '--timeout', '3');
      const ran = await mounted(`${script}; echo $?`, on);
      expect(ran.stdout.trim().split('\n'), ran.stderr).toEqual(['y', '124']);
    });

    it('a path that lies in a file that cannot be read: the run ends all the same', async () => {
      const place = stage.directory('mounted');
      await stage.runner.unconfined(fuseProgram(), [place]);
      marker = newMarker();
      const program = `import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
file = os.open(sys.argv[1], os.O_RDONLY)
at = libc.mmap(None, 4096, 1, 1, file, 0)
print("mapped", flush=True)
libc.chmod(ctypes.c_void_p(at), 0o600)`;
      const before = performance.now();
      const { result } = await stage.run(
        'python3',
        ['-c', program, join(place, 'unread'), marker],
        {
          timeout: 1_000,
          killAfter: 200,
        },
      );
      expect(result?.stdout).toBe('mapped');
      expect(result?.outcome.kind).toBe('timed-out');
      expect(performance.now() - before).toBeLessThan(6_000);
      await nothingLives(marker);
      await stage.runner.unconfined('umount', ['-l', place]);
    });

    it('refused where it would not be allowed', async () => {
      const script = inside('change ../mounted/file; change ../mounted/hangs & sleep 1; echo on');
      const ran = await mounted(`${script}; echo $?; stat -c %a ../mounted/file`, [
        ...['--mode', 'workspace-write', '--timeout', '3'],
      ]);
      const lines = ['Permission denied', 'on', '0', '644'];
      expect(ran.stdout.trim().split('\n'), ran.stderr).toEqual(lines);
    });
  });
});
