/**
 * @module Files of a folder, in a fixed order.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Paths of the files below `folder` whose name matches, sorted; folders named in `except` are not
 * entered.
 */
export function filesBelow(folder, pattern, { except = [] } = {}) {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return except.includes(entry.name) ? [] : filesBelow(path, pattern, { except });
    return pattern.test(entry.name) ? [path] : [];
  });
}
