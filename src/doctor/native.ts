/**
 * The native part: the addon loads, and the executable that runs stand on runs itself.
 * @module
 */

import { execFile } from 'node:child_process';
import { loadNative } from '../native/load.js';
import type { Check, Finding } from './check.js';
import { check } from './check.js';

const HELPER_TIMEOUT_MS = 5000;
/** `cordon-exec` without arguments says how it is used, and exits so. */
const HELPER_USAGE = 'usage: cordon-exec';

const REBUILD = 'Build it: npm rebuild cordon (a C++20 compiler is needed).';

function addonFinding(): Finding {
  const { executable } = loadNative();
  return { state: 'ok', found: `loaded, Node-API ${process.versions.napi}, beside ${executable}` };
}

function helperFinding(): Promise<Finding> {
  const { executable } = loadNative();
  return new Promise((resolve) => {
    execFile(executable, [], { timeout: HELPER_TIMEOUT_MS }, (error, _stdout, stderr) => {
      if (stderr.startsWith(HELPER_USAGE)) return resolve({ state: 'ok', found: executable });
      const reason = error === null ? 'it answers as another program' : error.message;
      resolve({ state: 'fail', found: `${executable}: ${reason}`, remedy: REBUILD });
    });
  });
}

function rebuildUnlessOk(result: Check): Check {
  return result.state === 'ok' || result.remedy !== undefined
    ? result
    : { ...result, remedy: REBUILD };
}

export function nativeChecks(): Promise<Check>[] {
  return [
    check(
      { id: 'helper.runs', group: 'helper', expected: 'cordon-exec starts' },
      helperFinding,
    ).then(rebuildUnlessOk),
    check({ id: 'addon.loads', group: 'addon', expected: 'cordon.node loads' }, addonFinding).then(
      rebuildUnlessOk,
    ),
  ];
}
