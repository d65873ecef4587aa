/**
 * Bundles the command: `src/cli/main.ts` to `dist/cli.cjs`. The library in `dist` stays plain tsc
 * output; only the command is bundled, because a program that shells out to it pays for its start.
 *
 * One CommonJS file, measured on Node 20 against ES modules in chunks: the loader of ES modules and
 * each further file cost more than compiling, without running, the commands that are not called
 * (`version` 1.38 instead of 1.63 times a bare node start, `run -- true` 1.57 instead of 1.71).
 * What stands behind an `import()` runs when it is reached, as before.
 * @module
 */

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const { warnings } = await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/main.ts'],
  outfile: join('dist', 'cli.cjs'),
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
});
if (warnings.length > 0) process.exitCode = 1;
