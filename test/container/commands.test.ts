/**
 * What people run in a container first: a command that may only read, a commit, an installation.
 * @module
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { needs } from '../support/require.js';
import { inWorkspace } from './workspace.js';

needs('landlock', 'seccomp');

const place = inWorkspace();
const WRITE = ['run', '--mode', 'workspace-write', '--'];

function unconfined(script: string, cwd = place.workspace) {
  return execa('sh', ['-c', script], { cwd, stdin: 'ignore', reject: false });
}

it('read-only: a file is what it was, and the command is told why', async () => {
  const file = join(place.workspace, 'file');
  await unconfined('echo first > file');
  await unconfined('echo second > file');
  expect(readFileSync(file, 'utf8')).toBe('second\n');
  const { stderr } = await place.cordon(['run', '--', 'sh', '-c', 'echo third > file'], {
    reject: false,
  });
  expect(readFileSync(file, 'utf8')).toBe('second\n');
  expect(stderr).toMatch(/file: (Permission denied|Read-only file system)/);
});

describe('git', () => {
  const commit = 'git init --quiet . && echo text > file && git add . && git commit -qm First';
  const log = 'git log --format=%s && git fsck --strict';

  it('commits in workspace-write mode', async () => {
    await place.cordon([...WRITE, 'sh', '-c', commit]);
    const { stdout, exitCode } = await unconfined(log);
    expect([stdout.trim(), exitCode]).toEqual(['First', 0]);
  });

  it('makes nothing outside of it', async () => {
    await unconfined(commit, place.outside);
    expect((await unconfined(log, place.outside)).stdout.trim()).toBe('First');
    mkdirSync(join(place.outside, 'second'));
    const script = `cd ${join(place.outside, 'second')} && ${commit}`;
    const { exitCode } = await place.cordon([...WRITE, 'sh', '-c', script], { reject: false });
    expect(readdirSync(join(place.outside, 'second'))).toEqual([]);
    expect(exitCode).not.toBe(0);
  });
});

describe('npm install of a local package, whose installation writes in the home directory', () => {
  const escaped = join(homedir(), 'escaped');

  async function pack(): Promise<string> {
    const from = join(place.outside, 'local');
    mkdirSync(from);
    const manifest = {
      name: 'local',
      version: '1.0.0',
      scripts: { install: 'echo built > built; echo out > "$ESCAPED"; true' },
    };
    writeFileSync(join(from, 'package.json'), JSON.stringify(manifest));
    await unconfined('npm pack --silent', from);
    for (const directory of ['workspace', 'outside'] as const) {
      writeFileSync(join(place[directory], 'package.json'), '{"name":"user","version":"1.0.0"}');
    }
    return join(from, 'local-1.0.0.tgz');
  }

  it('installs, and reaches nothing but the workspace', async () => {
    // As the README says: npm's own cache is not the run's to write.
    const flags = '--no-audit --no-fund --cache "${TMPDIR:-/tmp}/npm"';
    const install = `ESCAPED=${escaped} npm install ${flags} ${await pack()}`;
    await unconfined(install, place.outside);
    expect(readFileSync(join(place.outside, 'node_modules/local/built'), 'utf8')).toBe('built\n');
    expect(existsSync(escaped)).toBe(true);
    await unconfined(`rm ${escaped}`);

    const { stderr } = await place.cordon([...WRITE, 'sh', '-c', install]);
    expect(existsSync(escaped), stderr).toBe(false);
    expect(readFileSync(join(place.workspace, 'node_modules/local/built'), 'utf8')).toBe('built\n');
  });
});
