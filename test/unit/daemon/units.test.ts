import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SOCKET_NAMES } from '../../../src/daemon/listen.js';
import { systemdUnits } from '../../../src/daemon/units.js';

const PLACES = { node: '/opt/a b/node', command: '/opt/100%/c$x/cordon' };

test('each socket has the name that the daemon knows it by, and the service expands nothing', () => {
  const text = systemdUnits(PLACES);
  const names = [...text.matchAll(/^FileDescriptorName=(.*)$/gm)].map(([, name]) => name);
  expect(names).toEqual(SOCKET_NAMES);
  expect(text).toContain('ExecStart="/opt/a b/node" "/opt/100%%/c$$x/cordon" daemon\n');
  expect(text.match(/^# .*\.(socket|service)$/gm)).toHaveLength(4);
});

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasAnalyze)('systemd finds nothing wrong with them', () => {
  const directory = mkdtempSync(join(tmpdir(), 'cu-'));
  const units = systemdUnits({ node: process.execPath, command: '/bin/true' });
  const files = units.split(/^(?=# \S+\.(?:socket|service)$)/m).map((unit) => {
    const path = join(directory, unit.slice(2, unit.indexOf('\n')));
    writeFileSync(path, unit);
    return path;
  });
  try {
    expect(files).toHaveLength(4);
    const said = execFileSync('systemd-analyze', ['verify', '--user', '--man=no', ...files], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: directory },
    });
    expect(said).toBe('');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
