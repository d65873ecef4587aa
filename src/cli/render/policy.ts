/**
 * A resolved policy as text: each field, its value, and where it came from.
 * @module
 */

import { visible } from '../../errors/visible.js';
import type { Origin, Policy, Root, Sourced } from '../../schema/policy.js';
import type { Requirement } from '../../schema/vocabulary.js';
import type { Cell, Sheet } from './text.js';
import { columns } from './text.js';

/** The origin in the user's words: the flag or variable, else the kind. */
export function originText({ kind, name }: Origin): string {
  if (name === undefined) return kind;
  if (kind === 'flag' || kind === 'environment') return visible(name);
  return `${kind}: ${visible(name)}`;
}

function requirementText(requirement: Requirement): string {
  return typeof requirement === 'string' ? requirement : requirement.join(', ');
}

function field<T>(name: string, { value, origin }: Sourced<T>, text: (value: T) => string): Cell[] {
  return [{ text: name }, { text: text(value) }, { text: originText(origin), tone: 'faint' }];
}

function rootText({ path, kind, asked, origin }: Root): string {
  const form = kind === 'directory' ? '' : ` (${kind})`;
  const isAsAsked = asked === path || origin.kind === 'default';
  return `${visible(path)}${form}${isAsAsked ? '' : ` (asked as ${visible(asked)})`}`;
}

function roots(name: string, found: readonly Root[]): Cell[][] {
  if (found.length === 0) return [[{ text: name }, { text: 'nothing' }]];
  return found.map((root, index) => [
    { text: index === 0 ? name : '' },
    { text: rootText(root) },
    { text: originText(root.origin), tone: 'faint' },
  ]);
}

/** Sockets of the run's own need no grant, so they are not listed; without any, a granted one cannot be reached either. */
function sockets({ mode, sockets: { value }, reachable }: Policy): Cell[][] {
  if (mode.value === 'danger-full-access') {
    return [[{ text: 'reachable' }, { text: 'every socket the user may reach' }]];
  }
  if (value === 'none' && reachable.length > 0) {
    return [[{ text: 'reachable' }, { text: 'nothing: there are no UNIX sockets' }]];
  }
  return roots('reachable', reachable);
}

/** The policy, a line per field; every writable root and every reachable socket has its own. */
export function policyText(sheet: Sheet, policy: Policy): string[] {
  return columns(sheet, [
    field('mode', policy.mode, String),
    field('workspace', policy.workspace, rootText),
    ...(policy.mode.value === 'danger-full-access'
      ? [[{ text: 'writable' }, { text: 'everything the user may write' }]]
      : roots('writable', policy.writable)),
    ...sockets(policy),
    field('temp', policy.temp, String),
    field('shared-memory', policy.sharedMemory, String),
    field('pty', policy.pty, String),
    field('sockets', policy.sockets, String),
    field('denials', policy.denials, String),
    field('root-capabilities', policy.rootCapabilities, String),
    field('namespaces', policy.namespaces, String),
    field('protect', policy.protect, String),
    field('require', policy.require, requirementText),
  ]);
}
