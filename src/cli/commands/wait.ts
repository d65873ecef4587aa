/**
 * `cordon wait`: waits for a job, and exits as it did.
 * @module
 */

import type { JobEnd } from '../../client/client.js';
import { errorOfData } from '../../rpc/errors.js';
import type { Invocation } from '../arguments.js';
import { withDaemon } from '../daemon.js';
import { EXIT, exitOf } from '../exit.js';
import type { JobChoice } from '../job-options.js';
import { WAIT_OPTIONS } from '../job-options.js';
import { readOptions } from '../options.js';
import { print, say } from '../output.js';
import { errorText } from '../render/error.js';
import { jsonText } from '../render/json.js';
import { findingNotes } from '../render/run.js';
import { reportOf } from '../report.js';

export async function waitCommand({ given, json, operands }: Invocation): Promise<number> {
  const choice = readOptions<JobChoice>(WAIT_OPTIONS, given, {});
  const [run = ''] = operands;
  const end = await withDaemon(choice, (client) => client.wait(run, choice.timeoutMs));
  const code = end?.result === undefined ? EXIT.timedOut : exitOf(end.result.outcome);
  if (json)
    return print(jsonText({ run, result: end?.result ? reportOf(end.result) : null }), code);
  notes(end).forEach(say);
  return code;
}

/** What `run` would have said at the end. */
function notes(end: JobEnd): readonly string[] {
  if (end?.result === undefined) return ['cordon: it has not ended yet'];
  const { result, error } = end;
  const isOwn = error === undefined || error.code === 'COMMAND_FAILED';
  return [...(isOwn ? [] : [errorText(errorOfData(error))]), ...findingNotes(result)];
}
