// Whether Cordon works in an odd place, or refuses in words that help; run in containers of scripts/test-container.mjs.
// Usage: node place.mjs CORDON WORKSPACE works|refuses

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [cordon, workspace, expected] = process.argv.slice(2);
const file = join(workspace, 'file');

const run = (program, ...args) => spawnSync(program, args, { cwd: workspace, encoding: 'utf8' });
const confined = (...args) => run(process.execPath, cordon, ...args);
const write = (text) => ['sh', '-c', `echo ${text} > file`];

function expect(words, isSo, { status, stdout, stderr }) {
  if (isSo) return;
  process.stdout.write(`not so: ${words}\nexit code ${status}\n${stdout}${stderr}\n`);
  process.exit(1);
}

const holds = (text) => readFileSync(file, 'utf8') === `${text}\n`;

expect(
  'unconfined it is written',
  run(...write('unconfined')).status === 0 && holds('unconfined'),
  {},
);
const reading = confined('run', '--', ...write('read-only'));
expect('read-only it is not', holds('unconfined') && reading.status !== 0, reading);
const writing = confined('run', '--mode', 'workspace-write', '--', ...write('workspace-write'));
const proving = confined('prove', '--shared-memory', 'none');
if (expected === 'works') {
  expect(
    'read-only the shell is refused',
    /file: (Permission denied|Read-only file system)/.test(reading.stderr),
    reading,
  );
  expect(
    'workspace-write it is written',
    holds('workspace-write') && writing.status === 0,
    writing,
  );
  expect('every claim holds', proving.status === 0, proving);
} else {
  expect('nothing is written', holds('unconfined') && writing.status === 125, writing);
  for (const refused of [reading, writing, proving]) {
    expect('it says what to set', /Set XDG_RUNTIME_DIR and TMPDIR/.test(refused.stderr), refused);
  }
}
