/**
 * Names of signals and their numbers, real-time signals included, for which Node has no names.
 * @module
 */

import { constants } from 'node:os';
import type { SignalName } from '../schema/result.js';

const REAL_TIME = 'SIGRT';

/** Of two names for one number (SIGABRT and SIGIOT) Node uses the first: reversed, so that it is the one that stays. */
const NAMES: ReadonlyMap<number, NodeJS.Signals> = new Map(
  signalNames()
    .map((name) => [constants.signals[name], name] as const)
    .reverse(),
);

function signalNames(): NodeJS.Signals[] {
  return Object.keys(constants.signals).filter(
    (name): name is NodeJS.Signals => name in constants.signals,
  );
}

/**
 * The name of a signal. One that Node has no name for is `SIGRT` with its number as the kernel counts: the C libraries
 * do not agree on which number SIGRTMIN is.
 */
export function signalName(number: number): SignalName {
  return NAMES.get(number) ?? `${REAL_TIME}${number}`;
}

/** The number of a signal that has a name. */
export function signalNumber(name: SignalName): number {
  return isRealTime(name) ? Number(name.slice(REAL_TIME.length)) : constants.signals[name];
}

function isRealTime(name: SignalName): name is `SIGRT${number}` {
  return name.startsWith(REAL_TIME);
}
