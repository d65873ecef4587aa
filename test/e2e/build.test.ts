/**
 * The native part builds where node has no headers beside it and there is no network: from the
 * package's headers alone.
 * @module
 */

import { constants } from 'node:fs';
import { access, copyFile, cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needs } from '../support/require.js';

const root = join(import.meta.dirname, '..', '..');

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cordon-build-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

needs('program:make', 'program:c++', 'program:python3');

test('builds from node-api-headers without a network', { timeout: 240_000 }, async () => {
  const node = join(folder, 'node', 'bin', 'node');
  await mkdir(join(folder, 'node', 'bin'), { recursive: true });
  await copyFile(process.execPath, node, constants.COPYFILE_FICLONE);
  const copy = join(folder, 'cordon');
  await mkdir(copy);
  for (const name of ['package.json', 'binding.gyp', 'scripts', 'native']) {
    await cp(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => path !== join(root, 'native', 'build'),
    });
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));

  const env = { ...process.env, npm_config_nodedir: undefined };
  const [program = node, ...args] = [...(await withoutNetwork()), node, 'scripts/install.mjs'];
  const { stdout, stderr } = await execa(program, args, { cwd: copy, env, extendEnv: false });

  expect(stderr).toBe('');
  expect(stdout).toMatch(/^cordon: native part ready \(headers: node-api-headers, [\d.]+ s\)$/);
  await access(join(copy, 'build', 'Release', 'cordon.node'));
  await access(join(copy, 'build', 'Release', 'cordon-exec'), constants.X_OK);

  // Built with those headers, loaded by the Node that runs this test.
  const load = `console.log(Object.keys(require('./build/Release/cordon.node')).includes('launch'))`;
  const loaded = await execa(process.execPath, ['-e', load], { cwd: copy });
  expect(loaded.stdout).toBe('true');
});

/** Root may usually make a network namespace; where nobody may, the build runs as it is. */
async function withoutNetwork(): Promise<readonly string[]> {
  const prefix = ['--user', '--map-root-user', '--net'];
  const { exitCode } = await execa('unshare', [...prefix, 'true'], { reject: false });
  return exitCode === 0 ? ['unshare', ...prefix] : [];
}
