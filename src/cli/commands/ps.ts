/**
 * `cordon ps`: the runs of the daemon.
 * @module
 */

import type { Invocation } from '../arguments.js';
import { withDaemon } from '../daemon.js';
import { EXIT } from '../exit.js';
import type { JobChoice } from '../job-options.js';
import { PS_OPTIONS } from '../job-options.js';
import { readOptions } from '../options.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { jobListText } from '../render/job.js';
import { jsonText } from '../render/json.js';

export async function psCommand({ given, json }: Invocation): Promise<number> {
  const choice = readOptions<JobChoice>(PS_OPTIONS, given, {});
  const every = await withDaemon(choice, (client) => client.jobs(choice.session));
  const jobs = every.filter(({ state }) => choice.all === true || state === 'running');
  if (json) return print(jsonText({ jobs }), EXIT.ok);
  return print(`${jobListText(sheetOf(STDOUT, process.env), jobs).join('\n')}\n`, EXIT.ok);
}
