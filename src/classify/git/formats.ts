/**
 * Formats of git in which a placeholder starts a program.
 * @module
 */

/** `%G?` and its kind, with the signs that may stand between, and `%(signature)`: the checker of signatures is started. */
const SIGNATURE = /%[-+ ]?G|%\(\*?signature/;

/** Whether a format has a placeholder that starts a program. A doubled `%` is not told apart: it errs to the safe side. */
export function startsPrograms(format: string): boolean {
  return SIGNATURE.test(format);
}
