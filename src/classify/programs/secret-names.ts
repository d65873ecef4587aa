/**
 * Names of variables that usually hold what must not be told.
 * @module
 */

const PARTS =
  /secret|token|passw|passphrase|credential|private|api_?key|access_?key|_key$|auth|session|cookie|_pat$|_dsn$/i;

/** Whether the value of the variable is likely to be a secret. */
export function namesSecret(name: string): boolean {
  return PARTS.test(name);
}
