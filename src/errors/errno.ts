/**
 * What the kernel's error names mean to a person; and the name of an error thrown by Node or the addon.
 * @module
 */

import { constants } from 'node:os';

const WORDS: Readonly<Record<string, string>> = {
  E2BIG: 'argument list too long',
  EACCES: 'permission denied',
  EAGAIN: 'a limit on processes or memory was reached',
  EDQUOT: 'disk quota exceeded',
  EINVAL: 'the kernel refused the value',
  EIO: 'input or output error',
  EISDIR: 'is a directory',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files in this process',
  ENAMETOOLONG: 'the name is too long',
  ENFILE: 'too many open files on this machine',
  ENOENT: 'no such file or directory',
  ENOEXEC: 'not a program the kernel can execute',
  ENOMEM: 'not enough memory',
  ENOSPC: 'no space left on the device',
  ENOSYS: 'this kernel does not have the system call',
  ENOTDIR: 'a part of the path is not a directory',
  EOPNOTSUPP: 'disabled on this machine',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
  ESTALE: 'it is another object now',
  ESRCH: 'no such process',
  ETXTBSY: 'the file is open for writing',
};

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
);

/** `ENOENT` for 2; `errno 999` for a number without a name here. */
export function errnoName(number: number): string {
  return NAMES.get(number) ?? `errno ${number}`;
}

/** `permission denied (EACCES)`; the name alone when there are no words for it. */
export function errnoWords(name: string): string {
  const words = WORDS[name];
  return words === undefined ? name : `${words} (${name})`;
}

/** The errno name an exception carries; undefined for one that did not come from a system call. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
