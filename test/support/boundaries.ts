/**
 * Who may import whom. `biome.json` says the same to the editor; `boundaries.test.ts` compares the
 * two and reads the imports itself.
 * @module
 */

export interface Boundary {
  /** Folders of `src` that this one may import. */
  readonly folders: readonly string[];
  /** What it may import besides, as biome patterns: node's modules, packages, own subfolders. */
  readonly others: readonly string[];
  /** Decides and computes; reaches neither the process nor time nor the outside. */
  readonly pure: boolean;
}

const NODE = ['node:*', 'node:*/**'];

export const BOUNDARIES: Readonly<Record<string, Boundary>> = {
  schema: { folders: [], others: ['zod/mini', 'node:stream'], pure: true },
  errors: { folders: ['schema'], others: ['node:os'], pure: true },
  policy: { folders: ['schema', 'errors'], others: ['node:path'], pure: true },
  plan: { folders: ['schema', 'errors', 'policy'], others: ['node:path'], pure: true },
  judgement: { folders: ['schema', 'errors'], others: ['node:path'], pure: true },
  shell: { folders: ['schema', 'errors'], others: ['unbash'], pure: true },
  classify: { folders: ['schema', 'errors', 'shell'], others: ['../*', 'node:path'], pure: true },
  rules: {
    folders: ['schema', 'errors', 'policy', 'shell', 'classify'],
    others: ['node:path', 'node:url'],
    pure: true,
  },
  native: { folders: ['schema', 'errors', 'platform'], others: NODE, pure: false },
  platform: { folders: ['schema', 'errors'], others: NODE, pure: false },
  config: {
    folders: ['schema', 'errors', 'policy', 'platform'],
    others: [...NODE, 'smol-toml'],
    pure: false,
  },
  rpc: {
    folders: ['schema', 'errors', 'native', 'platform'],
    others: [...NODE, 'vscode-jsonrpc/node'],
    pure: false,
  },
  session: { folders: ['schema', 'errors', 'native', 'platform'], others: NODE, pure: false },
  check: {
    folders: [
      'schema',
      'errors',
      'policy',
      'shell',
      'classify',
      'rules',
      'config',
      'facts',
      'platform',
      'run',
    ],
    others: NODE,
    pure: false,
  },
  facts: { folders: ['schema', 'errors', 'native', 'platform'], others: NODE, pure: false },
  backend: {
    folders: ['schema', 'errors', 'plan', 'native', 'platform'],
    others: NODE,
    pure: false,
  },
  aftermath: {
    folders: ['schema', 'errors', 'judgement', 'native', 'platform'],
    others: NODE,
    pure: false,
  },
  run: {
    folders: [
      'schema',
      'errors',
      'policy',
      'plan',
      'facts',
      'native',
      'platform',
      'backend',
      'aftermath',
    ],
    others: NODE,
    pure: false,
  },
  client: {
    folders: ['schema', 'errors', 'native', 'platform', 'run', 'rpc'],
    others: NODE,
    pure: false,
  },
  doctor: {
    folders: ['schema', 'errors', 'plan', 'native', 'platform', 'facts', 'backend'],
    others: NODE,
    pure: false,
  },
  daemon: {
    folders: [
      'schema',
      'errors',
      'policy',
      'plan',
      'facts',
      'native',
      'platform',
      'backend',
      'run',
      'shell',
      'classify',
      'rules',
      'config',
      'check',
      'session',
      'rpc',
    ],
    others: ['../*', ...NODE, 'vscode-jsonrpc/node', 'pino'],
    pure: false,
  },
  // Of run only what the library face re-exports; by its own file, so that a command loads no more
  // than it uses.
  cli: {
    folders: [
      'schema',
      'errors',
      'platform',
      'config',
      'check',
      'run',
      'doctor',
      'session',
      'rpc',
      'client',
      'daemon',
    ],
    others: ['../*', '../../index.js', '../commands/**', '../render/**', ...NODE, 'commander'],
    pure: false,
  },
};

/** Of `run`, what the command uses beside the library face: what need not check options that it has typed itself. */
export const COMMAND_START: readonly string[] = ['run/look.js', 'run/start.js'];

/** What `src/index.ts` may re-export. */
export const LIBRARY_FACE: readonly string[] = [
  'check',
  'client',
  'errors',
  'rpc',
  'run',
  'schema',
];

/**
 * The list of `noRestrictedImports` that says what the boundary says: everything but. The last
 * match wins.
 */
export function biomeGroup({ folders, others }: Boundary): readonly string[] {
  const allowed = [...folders.map((folder) => `../**/${folder}/**`), ...others];
  return ['**', '!./**', './**/../**', ...allowed.map((pattern) => `!${pattern}`)];
}
