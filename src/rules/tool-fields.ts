/**
 * What a tool that takes no command is asked for: the text that rules are held against, the paths and the addresses.
 * @module
 */

import { TEXT_FIELDS } from './classic-engine.js';

export type ToolArguments = Readonly<Record<string, unknown>>;

/** A string among the arguments of a tool. */
export interface Field {
  readonly name: string;
  readonly text: string;
}

/** The first text field that is a string. */
export function textField(args: ToolArguments): Field | undefined {
  for (const name of TEXT_FIELDS) {
    const text = args[name];
    if (typeof text === 'string') return { name, text };
  }
  return undefined;
}

const PATH_FIELDS = new Set([
  'file_path',
  'path',
  'paths',
  'file',
  'files',
  'filename',
  'file_paths',
  'notebook_path',
  'target_file',
  'old_path',
  'new_path',
  'from',
  'to',
  'source',
  'source_path',
  'destination',
  'destination_path',
  'directory',
  'dir',
]);

const ADDRESS_FIELDS = new Set(['url', 'urls', 'link', 'address', 'uri']);

/** Past these a request is not looked through any further. */
const MOST_VALUES = 1000;

/** Every path, however deep it stands. */
export function pathFields(args: ToolArguments): readonly Field[] {
  return fieldsNamed(args, PATH_FIELDS);
}

/** Every address, however deep it stands. */
export function addressFields(args: ToolArguments): readonly Field[] {
  return fieldsNamed(args, ADDRESS_FIELDS);
}

/** Whether the arguments are more than are looked through, so that nothing can be said of them. */
export function isTooLarge(args: ToolArguments): boolean {
  return walk(args).length >= MOST_VALUES;
}

interface Value {
  /** Key of the nearest object around it. */
  readonly name: string;
  readonly value: unknown;
}

function fieldsNamed(args: ToolArguments, names: ReadonlySet<string>): readonly Field[] {
  return walk(args).flatMap(({ name, value }) => {
    return typeof value === 'string' && names.has(name.toLowerCase())
      ? [{ name, text: value }]
      : [];
  });
}

/** Values in the order in which they stand. Each object once, so that a circle has an end. */
function walk(args: ToolArguments): readonly Value[] {
  const found: Value[] = [];
  const seen = new Set<unknown>();
  const waiting: Value[] = [{ name: '', value: args }];
  while (found.length < MOST_VALUES) {
    const next = waiting.pop();
    if (next === undefined) break;
    found.push(next);
    const { name, value } = next;
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    const inner = Array.isArray(value)
      ? value.map((each: unknown) => ({ name, value: each }))
      : Object.entries(value).map(([key, each]: [string, unknown]) => ({ name: key, value: each }));
    waiting.push(...inner.slice(0, MOST_VALUES).reverse());
  }
  return found;
}
