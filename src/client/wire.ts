/**
 * What comes over the wire, as the library has it: numbers that JSON has no room for were sent as strings.
 * @module
 */

const IDENTITY = ['dev', 'ino'] as const;
const DIGITS = /^\d+$/;

/** The same value with device and inode numbers as numbers. */
export function revived<Value>(value: Value): Value {
  // The shape is the sender's: of an identity's two numbers only the type changes.
  return revive(value) as Value;
}

function revive(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(revive);
  const entries = Object.entries(value);
  const isIdentity = IDENTITY.every((name) => Object.hasOwn(value, name));
  return Object.fromEntries(
    entries.map(([name, each]) => [name, isIdentity ? number(name, each) : revive(each)]),
  );
}

function number(name: string, value: unknown): unknown {
  const isNumber = IDENTITY.some((each) => each === name) && typeof value === 'string';
  return isNumber && DIGITS.test(value) ? BigInt(value) : revive(value);
}
