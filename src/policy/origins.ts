/**
 * Where each field of a policy came from, for reports and for the rules that treat written-out values differently.
 * @module
 */

import type { CallerFace } from '../schema/option-names.js';
import { optionName } from '../schema/option-names.js';
import type { FieldOrigins } from '../schema/params.js';
import type { Origin, PolicyParams } from '../schema/policy.js';

/** Whose words the parameters are. */
export interface OriginSource {
  readonly face: CallerFace;
  readonly fields?: FieldOrigins | undefined;
}

export const DEFAULT_ORIGIN: Origin = { kind: 'default' };

/** Origin of a field that was given. */
export function originOf(field: keyof PolicyParams, { face, fields }: OriginSource): Origin {
  return fields?.[field] ?? { kind: face, name: optionName(field, face) };
}

/** True when a person or program wrote the value for this call: a flag or an option. */
export function isWrittenOut(origin: Origin): boolean {
  return origin.kind === 'flag' || origin.kind === 'option';
}
