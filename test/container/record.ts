/**
 * What the tests in a container hand out of it, for the golden table.
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Lines of the table, in a file of the directory that `CONTAINER_RESULTS` names. */
export function record(name: string, lines: readonly string[]): void {
  const directory = process.env.CONTAINER_RESULTS;
  if (directory === undefined) throw new Error('no CONTAINER_RESULTS: run npm run test:container');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), `${lines.join('\n')}\n`);
}

/** Names as a paragraph. */
export function paragraph(title: string, names: readonly string[]): string[] {
  const lines = [`${title}:`];
  for (const name of names) {
    const last = lines.length - 1;
    const longer = `${lines[last]} ${name}`;
    if (longer.length <= 110) lines[last] = longer;
    else lines.push(`  ${name}`);
  }
  return names.length === 0 ? [`${title}: none`] : lines;
}
