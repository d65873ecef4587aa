/**
 * Which of two values of a policy's field lets a run do less, and the most that is within both: one row per field. Pure.
 * @module
 */

import type { PolicyParams } from '../schema/policy.js';
import type { Required, Requirement } from '../schema/vocabulary.js';
import { REQUIRED } from '../schema/vocabulary.js';
import { compareTexts, isWithin } from './roots.js';

/** The fields whose values can be more or less. The workspace is a place: see `Bounds`. */
export type NarrowableField = Exclude<keyof PolicyParams, 'workspace'>;

export type FieldValue<Field extends keyof PolicyParams> = NonNullable<PolicyParams[Field]>;

interface Narrowing<Value> {
  /** What holds where nobody said anything. */
  readonly fallback: Value;
  /** The most that is within both, in the one form that such a value has. */
  readonly meet: (left: Value, right: Value) => Value;
}

/** Of words that are ordered, the narrowest first. */
function ordered<Word extends string>(
  words: readonly [Word, ...Word[]],
  fallback: Word,
): Narrowing<Word> {
  return {
    fallback,
    meet: (left, right) => (words.indexOf(left) <= words.indexOf(right) ? left : right),
  };
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort(compareTexts);
}

/** Trees that lie in a tree of both; none beneath another. Canonical paths. */
function sharedTrees(left: readonly string[], right: readonly string[]): readonly string[] {
  const shared = sorted([
    ...left.filter((path) => right.some((tree) => isWithin(path, tree))),
    ...right.filter((path) => left.some((tree) => isWithin(path, tree))),
  ]);
  return shared.filter((path) => !shared.some((tree) => tree !== path && isWithin(path, tree)));
}

type Protect = FieldValue<'protect'>;

function isLetGo(protect: Protect): boolean {
  return typeof protect === 'string' ? protect === 'none' : protect.includes('none');
}

/** Everything that either protects. What is protected by default is let go of only by both. */
function protectBoth(left: Protect, right: Protect): Protect {
  const isNone = isLetGo(left) && isLetGo(right);
  const lists = [left, right].flatMap((each) => (typeof each === 'string' ? [] : each));
  const paths = sorted(lists.filter((path) => path !== 'none'));
  if (paths.length === 0) return isNone ? 'none' : 'default';
  return isNone ? ['none', ...paths] : paths;
}

function requiredBy(requirement: Requirement): readonly Required[] {
  if (requirement === 'partial') return [];
  return requirement === 'full' ? ['full'] : requirement;
}

function requireBoth(left: Requirement, right: Requirement): Requirement {
  const wanted = new Set([...requiredBy(left), ...requiredBy(right)]);
  const names = REQUIRED.filter((name) => wanted.has(name));
  if (names.length === 0) return 'partial';
  return names.length === 1 && names[0] === 'full' ? 'full' : names;
}

const SHARED_TREES: Narrowing<readonly string[]> = { fallback: [], meet: sharedTrees };

const NARROWINGS: { readonly [Field in NarrowableField]: Narrowing<FieldValue<Field>> } = {
  mode: ordered(['read-only', 'workspace-write', 'danger-full-access'], 'read-only'),
  allowWrite: SHARED_TREES,
  allowSocket: SHARED_TREES,
  temp: ordered(['none', 'private'], 'private'),
  sharedMemory: ordered(['none', 'auto', 'shared'], 'auto'),
  pty: ordered(['none', 'shared'], 'none'),
  sockets: ordered(['none', 'own'], 'own'),
  denials: ordered(['on', 'auto', 'off'], 'auto'),
  rootCapabilities: ordered(['none', 'auto'], 'auto'),
  protect: { fallback: 'default', meet: protectBoth },
  hide: { fallback: [], meet: (left, right) => sorted([...left, ...right]) },
  git: ordered(['default', 'config'], 'default'),
  namespaces: ordered(['require', 'auto', 'never'], 'auto'),
  require: { fallback: 'partial', meet: requireBoth },
};

/** The value that holds where nobody said anything. */
export function fallbackOf<Field extends NarrowableField>(field: Field): FieldValue<Field> {
  return NARROWINGS[field].fallback;
}

/** The most that is within both. Idempotent, commutative, associative, and never wider than either. */
export function meet<Field extends NarrowableField>(
  field: Field,
  left: FieldValue<Field>,
  right: FieldValue<Field>,
): FieldValue<Field> {
  return NARROWINGS[field].meet(left, right);
}

/** Whether `value` lets a run do nothing that `bound` does not. */
export function isNoWider<Field extends NarrowableField>(
  field: Field,
  value: FieldValue<Field>,
  bound: FieldValue<Field>,
): boolean {
  return isSame(meet(field, value, bound), meet(field, value, value));
}

/** Of values in the form that `meet` gives them. */
function isSame(left: string | readonly string[], right: string | readonly string[]): boolean {
  if (typeof left === 'string' || typeof right === 'string') return left === right;
  return left.length === right.length && left.every((each, index) => each === right[index]);
}
