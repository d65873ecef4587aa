/**
 * What a command was asked for in all: flags, variables, the files of the configuration, and the ceiling met last. Every
 * command that has policy options comes here.
 * @module
 */

import { underCeiling } from '../config/ceiling.js';
import type { Layer } from '../config/layers.js';
import type { Configuration } from '../config/load.js';
import { loadConfiguration, realPath } from '../config/load.js';
import type { InspectParams } from '../schema/params.js';
import type { ConfigChoice } from './config-options.js';
import { CONFIG_OPTIONS } from './config-options.js';
import type { GivenOptions } from './options.js';
import { readOptions } from './options.js';
import { flagLayer, readPolicy } from './policy-options.js';
import { surroundings } from './surroundings.js';

/** What was asked for, and the configuration that it was held against. */
export interface CommandRequest {
  readonly asked: InspectParams;
  /** As it was before the ceiling. */
  readonly before: Layer;
  readonly after: Layer;
  readonly configuration: Configuration;
}

/** Reads it all. `cwd` is where the command shall run. Throws `UsageError`, and what `loadConfiguration` throws. */
export async function readRequest(
  given: GivenOptions,
  cwd: string | undefined = undefined,
): Promise<CommandRequest> {
  const { projectFile } = readOptions<ConfigChoice>(CONFIG_OPTIONS, given, {});
  const around = surroundings();
  const said = flagLayer(given).params.workspace ?? around.env.CORDON_WORKSPACE;
  const configuration = await loadConfiguration({
    env: around.env,
    uid: process.geteuid?.() ?? 0,
    gid: process.getegid?.() ?? 0,
    cwd: cwd ?? process.cwd(),
    workspace: said === '' ? undefined : said,
    readsProject: projectFile !== 'ignore',
  });
  const before = readPolicy(given, around, configuration.layer);
  const { ceiling } = configuration;
  const where = { cwd: cwd ?? process.cwd(), realPath };
  const after = ceiling === undefined ? before : underCeiling(before, ceiling, where);
  const { params, origins } = after;
  const asked = { ...params, origin: 'flag', origins, bounds: ceiling?.bounds, cwd } as const;
  return { asked, before, after, configuration };
}
