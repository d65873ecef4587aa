/**
 * Removes what a build or a test run made: everything, or the folders that are named.
 * @module
 */

import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MADE = ['dist', 'build', 'native/build', 'coverage'];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const named = process.argv.slice(2);
const unknown = named.filter((name) => !MADE.includes(name));
if (unknown.length > 0) {
  process.stderr.write(
    `not a build folder: ${unknown.join(', ')} (there are: ${MADE.join(', ')})\n`,
  );
  process.exit(2);
}
for (const name of named.length > 0 ? named : MADE) {
  rmSync(join(root, name), { recursive: true, force: true });
}
