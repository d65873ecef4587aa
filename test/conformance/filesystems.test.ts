import { describe, expect, it } from 'vitest';
import { ORDINARY, ROOT } from '../support/as-user.js';
import { fuseProgram } from '../support/build.js';
import { Stage } from '../support/stage.js';

describe('a file system in user space', () => {
  // The mount must end with the runner.
  const wrap = ['unshare', '--mount', '--propagation', 'private'];
  const stage = new Stage(ROOT ?? ORDINARY, { wrap }).install(
    'landlock',
    'seccomp',
    'root',
    'fuse',
  );

  // Of a file without a name nobody else knows; whoever serves a file may say that it has no links.
  it.each(['read-only', 'workspace-write'])(
    '%s: a file that counts no links has a name all the same',
    async (mode) => {
      const mounted = stage.directory('mounted');
      const confined = stage.runner.commandLine(['run', '--mode', mode, '--']);
      const script = `"$1" "$2"; cd "$3"; shift 3; file=../mounted/file
      stat -c '%a %h' $file; chmod 640 $file; stat -c %a $file
      "$@" chmod 600 $file 2>/dev/null || echo refused; stat -c %a $file; umount -l ../mounted`;
      const args = [fuseProgram(), mounted, stage.workspace, ...confined];
      const ran = await stage.runner.unconfined('sh', ['-c', script, 'sh', ...args]);
      expect(ran.stdout.trim().split('\n'), ran.stderr).toEqual(['644 0', '640', 'refused', '640']);
    },
  );
});
