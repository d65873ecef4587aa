/**
 * The user's file of permission rules, which commands change: one writer at a time, the whole file or nothing, and what
 * others have written in it stays as it is.
 * @module
 */

import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'smol-toml';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { makeDirectories } from '../platform/paths.js';
import { randomBytes } from '../platform/random.js';
import type { ConfigRule } from '../schema/config.js';
import type { PermissionRule, RuleParams } from '../schema/rule.js';
import { realPath } from './load.js';
import { withLock } from './lock.js';
import { readConfig } from './reader.js';
import type { Owner } from './trust.js';
import { isThere, readTrusted } from './trust.js';

/** The file as it was read; without text where there is none. */
export interface RulesText {
  readonly path: string;
  readonly text: string;
  readonly rules: readonly ConfigRule[];
}

const PRIVATE_MODE = 0o600;

/** Reads it. Throws `CONFIG_INVALID`, `CONFIG_UNREADABLE`, `CONFIG_UNTRUSTED`. */
export function readRules(path: string, owner: Owner): RulesText {
  if (!isThere(path)) return { path, text: '', rules: [] };
  return parsed(path, readTrusted(path, 'user', owner));
}

/**
 * Changes it: `change` gets it as it is once nobody else writes it, and says what shall stand there. Throws as `readRules`
 * does, `RULES_UNWRITABLE`, and what `change` throws.
 */
export async function changeRules(
  path: string,
  owner: Owner,
  change: (file: RulesText) => string,
): Promise<void> {
  const place = realPath(path);
  try {
    makeDirectories(dirname(place));
    await withLock(`${place}.lock`, () => replace(place, change(readRules(place, owner))));
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    throw new SandboxError({ code: 'RULES_UNWRITABLE', object: place, errno, cause: error });
  }
}

/** The text with the rule at its end. */
export function withRule({ path, text }: RulesText, rule: RuleParams): string {
  const entry = stringify({ rule: [written(rule)] });
  const gap = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  const appended = `${text}${gap}${entry}`;
  // What is written as one list of tables in braces takes no table behind it.
  const before = text === '' ? [] : parsed(path, text).rules.map((each) => each.rule);
  const isWhole = readsAs(path, appended, before.length + 1);
  return isWhole ? appended : stringify({ rule: [...before.map(written), written(rule)] });
}

/** The text without the rule of that id; undefined when there is none. */
export function withoutRule({ path, text, rules }: RulesText, id: string): string | undefined {
  const found = rules.find(({ rule }) => rule.id === id);
  if (found === undefined) return undefined;
  const rest = rules.filter((each) => each !== found).map(({ rule }) => rule);
  const lines = text.split('\n');
  const start = found.line - 1;
  const length = lines.slice(start + 1).findIndex((line) => /^\s*\[/.test(line));
  let end = length < 0 ? lines.length : start + 1 + length;
  // Remarks above an entry are that entry's.
  while (length >= 0 && end > start + 1 && /^\s*(?:#|$)/.test(lines[end - 1] ?? '')) end -= 1;
  const cut = [...lines.slice(0, start), ...lines.slice(end)].join('\n');
  const isTable = /^\s*\[\[/.test(lines[start] ?? '');
  // A bracket may begin a line of a text: then the cut is not what was meant, and shows it.
  if (isTable && saysTheSame(path, cut, rest)) return cut;
  return rest.length === 0 ? '' : stringify({ rule: rest.map(written) });
}

function readsAs(path: string, text: string, count: number): boolean {
  const reading = readConfig({ level: 'user', path, text, rulesOnly: true });
  return reading.ok && reading.file.rules.length === count;
}

function saysTheSame(path: string, text: string, rules: readonly PermissionRule[]): boolean {
  const reading = readConfig({ level: 'user', path, text, rulesOnly: true });
  if (!reading.ok) return false;
  const said = (rule: PermissionRule): string => JSON.stringify(written(rule));
  const found = reading.file.rules.map(({ rule }) => said(rule));
  return JSON.stringify(found) === JSON.stringify(rules.map(said));
}

/** Without where it is from, in the order in which people write. */
function written(rule: RuleParams): Record<string, string | number | boolean> {
  const { id, tool, behavior, pattern, priority = 0, message, ceiling } = rule;
  return {
    ...(id !== undefined && { id }),
    tool,
    behavior,
    ...(pattern !== undefined && { pattern }),
    ...(priority !== 0 && { priority }),
    ...(message !== undefined && { message }),
    ...(ceiling === true && { ceiling }),
  };
}

function parsed(path: string, text: string): RulesText {
  const reading = readConfig({ level: 'user', path, text, rulesOnly: true });
  if (reading.ok) return { path, text, rules: reading.file.rules };
  throw new SandboxError({
    code: 'CONFIG_INVALID',
    object: path,
    details: { faults: reading.faults },
  });
}

function replace(path: string, text: string): void {
  const directory = dirname(path);
  const name = Buffer.from(randomBytes(8)).toString('hex');
  const temporary = join(directory, `.rules.${name}`);
  try {
    write(temporary, text);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function write(path: string, text: string): void {
  const fd = openSync(path, 'wx', PRIVATE_MODE);
  try {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A file of rules that a flag names, believed because the caller named it. */
export function readNamedRules(path: string): readonly ConfigRule[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    throw new SandboxError({ code: 'CONFIG_UNREADABLE', object: path, errno, cause: error });
  }
  return parsed(path, text).rules;
}
