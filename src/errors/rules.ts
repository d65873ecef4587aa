/**
 * Errors of naming a permission rule.
 * @module
 */

import { nearest } from '../schema/suggest.js';
import { SandboxError } from './sandbox-error.js';

/** There is no rule of that id in the file. */
export function noSuchRule(
  id: string,
  { path, known }: { readonly path: string; readonly known: readonly string[] },
): SandboxError {
  const suggestion = nearest(id, known);
  const expected =
    known.length === 0
      ? `the id of a rule in ${path}, which has none`
      : `the id of a rule in ${path}`;
  return new SandboxError({
    code: 'INVALID_REQUEST',
    object: 'id',
    details: {
      option: 'id',
      problem: {
        code: 'INVALID_REQUEST',
        option: 'id',
        expected,
        came: `"${id}"`,
        ...(suggestion !== undefined && { suggestion }),
      },
    },
  });
}
