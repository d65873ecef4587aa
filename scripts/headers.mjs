/**
 * Where the Node-API headers are. They are found, never fetched: an install must work without a
 * network beyond the package registry, and a download would be one more thing to trust.
 * @module
 */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * The directory to give node-gyp and cmake-js as `nodedir`, and where it came from. Undefined when
 * there are no headers anywhere, which only a broken install brings about: `node-api-headers` is a
 * dependency.
 * @param buildFolder where a directory is laid out when the headers come from the package
 */
export function findHeaders(buildFolder, { execPath = process.execPath, env = process.env } = {}) {
  const beside = dirname(dirname(realpathSync(execPath)));
  if (isNodeDir(beside)) return { nodedir: beside, origin: 'beside node' };
  const configured = env.npm_config_nodedir;
  if (configured && isNodeDir(configured)) return { nodedir: configured, origin: 'npm nodedir' };
  return fromPackage(buildFolder);
}

/**
 * An installed prefix or a source tree of Node: both hold what node-gyp includes while it
 * configures.
 */
function isNodeDir(folder) {
  const installed = ['include/node/node_api.h', 'include/node/node.h', 'include/node/common.gypi'];
  const source = ['src/node_api.h', 'src/node.h', 'common.gypi'];
  return [installed, source].some((files) => files.every((file) => existsSync(join(folder, file))));
}

function fromPackage(buildFolder) {
  const headers = packageHeaders();
  if (!headers) return undefined;
  const nodedir = join(buildFolder, 'node-api');
  const include = join(nodedir, 'include', 'node');
  mkdirSync(include, { recursive: true });
  for (const name of readdirSync(headers)) copyFileSync(join(headers, name), join(include, name));
  for (const [name, text] of Object.entries(COMPANIONS)) writeFileSync(join(include, name), text);
  return { nodedir, origin: 'node-api-headers' };
}

function packageHeaders() {
  try {
    return require('node-api-headers').include_dir;
  } catch {
    return undefined;
  }
}

/**
 * What node-gyp and cmake-js read beside the headers. Node's own versions of these files carry the
 * flags Node and V8 were built with; an addon that is on Node-API alone depends on none of them.
 */
const COMPANIONS = {
  'common.gypi': `{
  'target_defaults': {
    'default_configuration': 'Release',
    'configurations': {
      'Release': { 'cflags': [ '-O2' ], 'defines': [ 'NDEBUG' ] },
      'Debug': { 'cflags': [ '-g', '-O0' ], 'defines': [ 'DEBUG' ] },
    },
    'cflags': [ '-pthread', '-Wall', '-Wextra' ],
    'cflags_cc': [ '-fno-rtti', '-fno-exceptions' ],
    'ldflags': [ '-pthread' ],
  },
}
`,
  // node-gyp turns this into JSON with regular expressions: no comment, no quote inside a string.
  'config.gypi': `{ 'target_defaults': {}, 'variables': { 'node_shared': 'false' } }
`,
  'node.h': `#error "Cordon's addon is built on Node-API alone: include node_api.h"
`,
};
