/**
 * Bundles the command: `src/cli/main.ts` to `dist/cli.cjs`, what only the long way needs (`src/cli/interpret.ts`) to
 * `dist/cli-commands.cjs`, and what reads files of the configuration (`src/config/reader.ts`) to `dist/cli-config.cjs`. The library in `dist` stays plain tsc output; only the command is bundled, because a
 * program that shells out to it pays for its start.
 *
 * CommonJS, measured on Node 20 against ES modules in chunks: the loader of ES modules and each further file cost more
 * than compiling, without running, the commands that are not called (`version` 1.38 instead of 1.63 times a bare node
 * start, `run -- true` 1.57 instead of 1.71). Two files, because `run` is called most and needs a third of the text: it
 * saves another 0.06. They share no module: a class of one is not that of the other.
 * What stands behind an `import()` runs when it is reached, as before.
 * @module
 */

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const LONG_WAY = 'cli-commands.cjs';
const CONFIG = 'cli-config.cjs';
const DAEMON = 'cli-daemon.cjs';

/** A file of its own, which is required when it is reached. */
const apart = (filter, file) => ({
  name: `apart ${file}`,
  setup: ({ onResolve }) =>
    onResolve({ filter }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${file}`, external: true } : undefined,
    ),
});
const longWay = apart(/^\.\/interpret\.js$/, LONG_WAY);
// Where there is no file to be read, nobody pays for TOML and the schemas. What it gives is plain data: see above.
const config = apart(/^\.\/reader\.js$/, CONFIG);
// What one process loads once a day is not compiled with every command.
const daemon = apart(/^\.\.\/\.\.\/daemon\/main\.js$/, DAEMON);

const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  external: ['*.node'],
  // A CommonJS file has no import.meta; our own code asks it only for the place of the package.
  define: { 'import.meta.url': 'cordonUrl' },
  banner: { js: "const cordonUrl = require('node:url').pathToFileURL(__filename).href;" },
  minify: true,
  // For `node --enable-source-maps`; without that flag nobody opens it.
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
  // An import() of an external file would load node's loader of ES modules for it.
  supported: { 'dynamic-import': false },
};

const builds = await Promise.all([
  build({
    ...common,
    entryPoints: ['src/cli/main.ts'],
    outfile: 'dist/cli.cjs',
    plugins: [longWay, config],
  }),
  build({
    ...common,
    entryPoints: ['src/cli/interpret.ts'],
    outfile: join('dist', LONG_WAY),
    plugins: [config, daemon],
  }),
  build({
    ...common,
    entryPoints: ['src/daemon/main.ts'],
    outfile: join('dist', DAEMON),
    plugins: [config],
  }),
  build({ ...common, entryPoints: ['src/config/reader.ts'], outfile: join('dist', CONFIG) }),
]);
if (builds.some(({ warnings }) => warnings.length > 0)) process.exitCode = 1;
