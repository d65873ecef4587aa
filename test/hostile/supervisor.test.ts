import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { hasEnded, parentOf } from '../support/processes.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';

needs('landlock:6');

/** Everything a shell can try on the processes above it; a word for each thing that worked. */
const ATTACKS = `
  for pid in $*; do
    kill -9 $pid 2>/dev/null && echo "killed $pid"
    kill -STOP $pid 2>/dev/null && echo "stopped $pid"
    kill -USR1 -$pid 2>/dev/null && echo "signalled group $pid"
    readlink /proc/$pid/fd/* && echo "followed descriptors of $pid"
    cat /proc/$pid/environ >/dev/null 2>&1 && echo "read $pid"
    ls /proc/$pid/root/ >/dev/null 2>&1 && echo "entered $pid"
    (echo x > /proc/$pid/mem) 2>/dev/null && echo "wrote $pid"
    (echo 1000 > /proc/$pid/oom_score_adj) 2>/dev/null && echo "adjusted $pid"
    (echo x > /proc/$pid/comm) 2>/dev/null && echo "renamed $pid"
    for fd in 0 1 2 3 4 5 6 7 8 9; do
      (echo x > /proc/$pid/fd/$fd) 2>/dev/null && echo "wrote descriptor $fd of $pid"
    done
  done
  true`;

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();

  it('the processes above a run cannot be reached from it', async () => {
    const { workspace } = stage;
    const options = { mode: 'workspace-write', workspace, cwd: workspace } as const;
    const gate = stage.path('workspace/gate');
    await stage.runner.unconfined('mkfifo', [gate]);
    const run = stage.runner.watched(
      'sh',
      ['-c', `read line < gate; set -- $line; ${ATTACKS}; echo end`],
      options,
    );
    const command = await run.started;
    const supervisor = parentOf(command);
    const served = parentOf(supervisor);
    const above = [supervisor, served, stage.runner.pid];
    await stage.runner.unconfined('sh', ['-c', `echo ${above.join(' ')} > ${gate}`]);
    const { result } = await run.settled;
    expect(above.filter(hasEnded).filter((pid) => pid !== supervisor)).toEqual([]);
    expect(result?.stdout).toBe('end');
    expect(result?.outcome).toEqual({ kind: 'exited', code: 0 });
  });

  it("a run cannot write another run's temp directory, nor signal its processes", async () => {
    const { workspace } = stage;
    const options = { mode: 'workspace-write', workspace, cwd: workspace } as const;
    const other = stage.runner.watched(
      'sh',
      ['-c', 'echo "$TMPDIR/"; read line; ls -A "$TMPDIR"'],
      options,
    );
    const command = await other.started;
    await other.says('/\n');
    const environment = readFileSync(`/proc/${command}/environ`, 'utf8').split('\0');
    const directory = environment.find((each) => each.startsWith('TMPDIR='))?.slice(7);
    expect(directory).toContain(stage.runner.temp);
    const script = `(echo x > ${directory}/x) 2>/dev/null && echo wrote; rmdir ${directory} 2>/dev/null && echo removed
      kill -9 ${command} 2>/dev/null && echo killed; true`;
    const { result } = await stage.script(script);
    expect(result?.stdout).toBe('');
    expect(hasEnded(command)).toBe(false);
    await other.endInput();
    const ended = (await other.settled).result;
    expect(ended?.stdout).toBe(`${directory}/`);
  });

  it("Cordon's own files cannot be written from a run", async () => {
    const { XDG_RUNTIME_DIR = '', XDG_STATE_HOME = '' } = stage.runner.env;
    await stage.script('true');
    const journal = `${XDG_RUNTIME_DIR}/cordon`;
    expect(existsSync(journal)).toBe(true);
    const names = readdirSync(journal);
    const contents = names.map((name) => readFileSync(`${journal}/${name}`));
    await stage.script(
      `rm -rf ${journal}/* ; for f in ${journal}/*; do echo x > $f; done; echo > ${journal}/new; mkdir ${XDG_STATE_HOME}/x; true`,
    );
    expect(readdirSync(journal)).toEqual(names);
    // The journal of a live process changes and grows with its runs; what the run would have left is two bytes.
    for (const [index, name] of names.entries()) {
      const { length } = readFileSync(`${journal}/${name}`);
      expect(length).toBeGreaterThanOrEqual(contents[index]?.length ?? Number.NaN);
    }
    expect(readdirSync(XDG_STATE_HOME)).toEqual([]);
  });
});
