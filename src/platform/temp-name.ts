/**
 * Names of private temp directories. Pure.
 * @module
 */

const PREFIX = 'cordon-';
/** A digit's value is its place; `native/linux/temp.cc` has the same order. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const FNV_BASIS = 2_166_136_261;
const FNV_PRIME = 16_777_619;

/** Bytes of randomness that a name takes. */
export const TEMP_NAME_RANDOM_BYTES = 10;
const CHECK_CHARACTERS = 6;
const FORM = /^cordon-[a-z0-9]{16}$/;

/**
 * A name that nothing else has: random characters, and check digits over them, by which a sweep knows what a crash left
 * behind from a directory that somebody else called `cordon-…`.
 */
export function tempName(random: Uint8Array): string {
  let unique = '';
  let hash = FNV_BASIS;
  for (const byte of random) {
    const character = digit(byte);
    unique += character;
    hash = Math.imul(hash ^ character.charCodeAt(0), FNV_PRIME) >>> 0;
  }
  let check = '';
  while (check.length < CHECK_CHARACTERS) {
    check += digit(hash);
    hash = Math.floor(hash / ALPHABET.length);
  }
  return `${PREFIX}${unique}${check}`;
}

/** True for a name of the form that `tempName` gives. */
export function isTempName(name: string): boolean {
  return FORM.test(name);
}

function digit(value: number): string {
  return ALPHABET.charAt(value % ALPHABET.length);
}
