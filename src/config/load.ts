/**
 * The configuration of a call: which files there are, what they say, and what of it holds. What cannot be read, believed or
 * understood stops the call.
 * @module
 */

import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { ConfigFault } from '../errors/details.js';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import {
  configDirectory,
  homeDirectory,
  registeredHome,
  SYSTEM_DIRECTORY,
} from '../platform/paths.js';
import { isWithin } from '../policy/roots.js';
import type { ConfigFile, ConfigRule } from '../schema/config.js';
import type { ConfigLevel } from '../schema/policy.js';
import type { Ceiling } from './ceiling.js';
import { ceilingOf } from './ceiling.js';
import { foundPaths } from './found-paths.js';
import type { Layer } from './layers.js';
import { above, layerOf, NOTHING_SAID, narrowedBy } from './layers.js';
import type { ConfigText } from './reader.js';
import type { Settings } from './settings.js';
import { settingsOf } from './settings.js';
import { isThere, readTrusted, untrusted } from './trust.js';

export const PROJECT_FILE = 'cordon.toml';
const CONFIG_FILE = 'config.toml';
const CEILING_FILE = 'ceiling.toml';
const RULES_FILE = 'rules.toml';

/** Who asks, and where. */
export interface ConfigRequest {
  readonly env: NodeJS.ProcessEnv;
  readonly uid: number;
  readonly gid: number;
  /** The working directory of what shall run. */
  readonly cwd: string;
  /** The workspace, where it was said before any file is read. */
  readonly workspace?: string | undefined;
  /** False: the project's file is passed over. */
  readonly readsProject: boolean;
  /** Of the system's files; tests have their own. */
  readonly system?: string;
}

/** A file that was looked for. */
export interface LookedAt {
  readonly level: ConfigLevel;
  readonly path: string;
  readonly status: 'found' | 'missing' | 'passed-over';
}

/** What all files come to, the ceiling kept apart: it is met last. */
export interface Configuration {
  readonly files: readonly LookedAt[];
  readonly layer: Layer;
  readonly settings: Settings;
  readonly rules: readonly ConfigRule[];
  readonly ceiling?: Ceiling;
}

/** The user's file of rules, which `cordon rule` writes. */
export function rulesFile(env: NodeJS.ProcessEnv): string {
  return join(userDirectory(env), RULES_FILE);
}

function userDirectory(env: NodeJS.ProcessEnv): string {
  return configDirectory({ env, home: homeDirectory(env) });
}

/** Reads the configuration. Throws `CONFIG_UNREADABLE`, `CONFIG_UNTRUSTED` and `CONFIG_INVALID`. */
export async function loadConfiguration(request: ConfigRequest): Promise<Configuration> {
  const { system = SYSTEM_DIRECTORY } = request;
  const user = userDirectory(request.env);
  const places: readonly Place[] = [
    ...placesIn(system, isThere(system), [
      { level: 'system', name: CONFIG_FILE },
      { level: 'ceiling', name: CEILING_FILE },
    ]),
    ...placesIn(user, hasUserDirectory(user), [
      { level: 'user', name: CONFIG_FILE },
      { level: 'user', name: RULES_FILE },
    ]),
  ];
  if (places.some(({ level, isFound }) => level === 'user' && isFound))
    refuseLedInto(user, request);
  const own = await readAll(places, request);
  const workspace = workspaceOf(request, own);
  const project = projectPlace(workspace, request);
  const files = [...own, ...(await readAll([project], request, workspace))];
  return configurationOf([...places, project], files);
}

interface Place {
  readonly level: ConfigLevel;
  readonly path: string;
  readonly isFound: boolean;
  readonly isPassedOver?: boolean;
}

function placesIn(
  directory: string,
  hasDirectory: boolean,
  names: readonly { readonly level: ConfigLevel; readonly name: string }[],
): readonly Place[] {
  return names.map(({ level, name }) => {
    const path = join(directory, name);
    return { level, path, isFound: hasDirectory && isThere(path) };
  });
}

/** Where the caller may not even look, as in a home directory that is another's, no file of the caller's can be. */
function hasUserDirectory(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (errnoOf(error) === 'EACCES' || errnoOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/**
 * Variables say where the user's file is, and may only narrow: one that leads into the tree that is worked in would give
 * the word to whoever wrote that tree. Throws `CONFIG_UNTRUSTED`.
 */
function refuseLedInto(directory: string, { cwd, workspace = cwd }: ConfigRequest): void {
  const registered = registeredHome();
  if (registered !== undefined && directory === join(registered, '.config', 'cordon')) return;
  const place = realPath(directory);
  const tree = [cwd, workspace].map(realPath).find((each) => isWithin(place, each));
  if (tree === undefined) return;
  throw untrusted(
    directory,
    `it lies in ${tree}, where the command works`,
    'Nothing was started. Let XDG_CONFIG_HOME and HOME name directories outside of it.',
  );
}

function workspaceOf({ cwd, workspace }: ConfigRequest, files: readonly ConfigFile[]): string {
  const said = ['user', 'system'].map(
    (level) =>
      files.find((file) => file.level === level && file.policy.workspace)?.policy.workspace,
  );
  return resolve(workspace ?? said.find((each) => each !== undefined) ?? cwd);
}

function projectPlace(workspace: string, { readsProject }: ConfigRequest): Place {
  const path = join(workspace, PROJECT_FILE);
  if (readsProject) return { level: 'project', path, isFound: isInReach(path) };
  return { level: 'project', path, isFound: false, isPassedOver: true };
}

/** A workspace that is none is refused with the policy, in better words. */
function isInReach(path: string): boolean {
  try {
    return isThere(path);
  } catch (error) {
    if (error instanceof SandboxError && error.errno === 'ENOTDIR') return false;
    throw error;
  }
}

async function readAll(
  places: readonly Place[],
  request: ConfigRequest,
  workspace = request.cwd,
): Promise<readonly ConfigFile[]> {
  const found = places.filter(({ isFound }) => isFound);
  if (found.length === 0) return [];
  const { readConfig } = await import('./reader.js');
  return found.map(({ level, path }) => {
    const text = readTrusted(path, level, request);
    const source: ConfigText = { level, path, text, rulesOnly: basename(path) === RULES_FILE };
    const reading = readConfig(source);
    if (!reading.ok) throw invalid(path, reading.faults);
    const homes = { home: homeDirectory(request.env), registered: registeredHome() };
    const { file, faults } = foundPaths(reading.file, { ...homes, workspace });
    if (faults.length > 0) throw invalid(path, faults);
    return file;
  });
}

function invalid(path: string, faults: readonly ConfigFault[]): SandboxError {
  return new SandboxError({ code: 'CONFIG_INVALID', object: path, details: { faults } });
}

function configurationOf(places: readonly Place[], files: readonly ConfigFile[]): Configuration {
  const layersOf = (level: ConfigLevel) =>
    files.filter((file) => file.level === level).map(layerOf);
  const own = [...layersOf('system'), ...layersOf('user')].reduce(above, NOTHING_SAID);
  const layer = layersOf('project').reduce(narrowedBy, own);
  const ceiling = files.find((file) => file.level === 'ceiling');
  return {
    files: places.map(({ level, path, isFound, isPassedOver }) => ({
      level,
      path,
      status: isPassedOver === true ? 'passed-over' : isFound ? 'found' : 'missing',
    })),
    layer,
    settings: settingsOf(files),
    rules: files.flatMap(({ rules }) => rules),
    ...(ceiling !== undefined && { ceiling: ceilingOf(ceiling, realPath) }),
  };
}

/** The path with every link followed, as far as there is something. */
export function realPath(path: string): string {
  const whole = isAbsolute(path) ? path : resolve(path);
  try {
    return realpathSync.native(whole);
  } catch {
    const parent = dirname(whole);
    return parent === whole ? whole : join(realPath(parent), basename(whole));
  }
}
