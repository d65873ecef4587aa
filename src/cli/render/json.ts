/**
 * Values as JSON text, identities included: device and inode numbers are wider than JSON's numbers and become strings.
 * @module
 */

function widen(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** One JSON value on lines of its own, newline at the end. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, widen, 2)}\n`;
}
