/**
 * What files say beside the policy, each value with its origin. Pure.
 * @module
 */

import type { ConfigFile, ConfigSettings } from '../schema/config.js';
import type { ConfigLevel, Origin, Sourced } from '../schema/policy.js';
import type { RuleDefault, RuleSetName } from '../schema/vocabulary.js';
import { fileOrigin } from './layers.js';

/** Every setting, also those that nobody said anything of. */
export interface Settings {
  /** 0 for none. */
  readonly timeoutMs: Sourced<number>;
  readonly killAfterMs: Sourced<number | undefined>;
  readonly askWrites: Sourced<boolean>;
  readonly ruleDefault: Sourced<RuleDefault>;
  readonly ruleSet: Sourced<RuleSetName>;
  /** The longest timeout there is, of a ceiling. */
  readonly mostMs?: Sourced<number>;
}

const DEFAULT: Origin = { kind: 'default' };

type Field = keyof ConfigSettings;

/** What the files come to: the user's above the system's, the ceiling's last. */
export function settingsOf(files: readonly ConfigFile[]): Settings {
  const said = new Said(files);
  const most = said.ceiling('timeoutSeconds');
  const mostMs = most === undefined ? undefined : inMs(most);
  const killAfter = said.own('killAfterSeconds');
  return {
    timeoutMs: limited(inMs(said.of('timeoutSeconds', 0)), mostMs),
    killAfterMs: killAfter === undefined ? { value: undefined, origin: DEFAULT } : inMs(killAfter),
    askWrites: said.under('askWrites', false, (value) => value),
    ruleDefault: said.under('ruleDefault', 'ask', (value) => value === 'ask'),
    ruleSet: said.of('ruleSet', 'standard'),
    ...(mostMs !== undefined && { mostMs }),
  };
}

/** Rounded up, so that a short time never becomes none. */
function inMs({ value, origin }: Sourced<number>): Sourced<number> {
  return { value: Math.ceil(value * 1000), origin };
}

/** The shorter of the two; 0 is the longest. */
export function limited(
  asked: Sourced<number>,
  most: Sourced<number> | undefined,
): Sourced<number> {
  if (most === undefined || most.value === 0) return asked;
  return asked.value === 0 || asked.value > most.value ? most : asked;
}

class Said {
  readonly #files: readonly ConfigFile[];

  constructor(files: readonly ConfigFile[]) {
    this.#files = files;
  }

  own<Name extends Field>(field: Name): Sourced<NonNullable<ConfigSettings[Name]>> | undefined {
    return this.#in('user', field) ?? this.#in('system', field);
  }

  of<Name extends Field>(
    field: Name,
    fallback: NonNullable<ConfigSettings[Name]>,
  ): Sourced<NonNullable<ConfigSettings[Name]>> {
    return this.own(field) ?? { value: fallback, origin: DEFAULT };
  }

  ceiling<Name extends Field>(field: Name): Sourced<NonNullable<ConfigSettings[Name]>> | undefined {
    return this.#in('ceiling', field);
  }

  /** As `of`, but for a ceiling that says the narrower of the two values. */
  under<Name extends Field>(
    field: Name,
    fallback: NonNullable<ConfigSettings[Name]>,
    isNarrow: (value: NonNullable<ConfigSettings[Name]>) => boolean,
  ): Sourced<NonNullable<ConfigSettings[Name]>> {
    const asked = this.of(field, fallback);
    const most = this.ceiling(field);
    return most === undefined || !isNarrow(most.value) || isNarrow(asked.value) ? asked : most;
  }

  #in<Name extends Field>(
    level: ConfigLevel,
    field: Name,
  ): Sourced<NonNullable<ConfigSettings[Name]>> | undefined {
    const file = this.#files.find(
      (each) => each.level === level && each.settings[field] !== undefined,
    );
    const value = file?.settings[field];
    if (file === undefined || value === undefined || value === null) return undefined;
    return { value, origin: fileOrigin(file, field) };
  }
}
