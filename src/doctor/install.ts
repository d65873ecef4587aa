/**
 * The installation: Node, and who could replace our own files.
 * @module
 */

import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadNative } from '../native/load.js';
import { packageRoot } from '../platform/package.js';
import type { Check, Finding } from './check.js';
import { check } from './check.js';

const OLDEST_NODE = { major: 20, minor: 19 } as const;
const BY_GROUP = 0o020;
const BY_OTHERS = 0o002;

function nodeFinding(): Finding {
  const found = process.versions.node;
  const [major = 0, minor = 0] = found.split('.').map(Number);
  if (major > OLDEST_NODE.major || (major === OLDEST_NODE.major && minor >= OLDEST_NODE.minor)) {
    return { state: 'ok', found };
  }
  return { state: 'fail', found, remedy: 'Install a newer Node.' };
}

/** Who, beside the owner, could put something else in the file's place. */
function objection(
  path: string,
  uid: number,
): { state: 'warn' | 'fail'; found: string } | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return undefined;
  if ((found.mode & BY_OTHERS) !== 0)
    return { state: 'fail', found: `${path}: anybody may write it` };
  if (found.uid !== uid && found.uid !== 0) {
    return { state: 'warn', found: `${path}: belongs to uid ${found.uid}` };
  }
  if ((found.mode & BY_GROUP) !== 0) {
    return { state: 'warn', found: `${path}: group ${found.gid} may write it` };
  }
  return undefined;
}

function filesFinding(): Finding {
  const root = packageRoot();
  if (root === undefined) {
    return {
      state: 'fail',
      found: 'no package around this program',
      remedy: 'Install cordon again.',
    };
  }
  const uid = process.geteuid?.() ?? 0;
  const { executable } = loadNative();
  const paths = [
    root,
    join(root, 'package.json'),
    join(root, 'dist'),
    dirname(executable),
    executable,
  ];
  const objections = paths.flatMap((path) => objection(path, uid) ?? []);
  const worst = objections.find(({ state }) => state === 'fail') ?? objections[0];
  if (worst === undefined) return { state: 'ok', found: root };
  return { ...worst, remedy: `Take that right away: chmod -R go-w ${root}` };
}

export function installChecks(): Promise<Check>[] {
  return [
    check({ id: 'install.node', group: 'install', expected: 'Node 20.19 or later' }, nodeFinding),
    check(
      { id: 'install.files', group: 'install', expected: 'writable by nobody else' },
      filesFinding,
    ),
  ];
}
