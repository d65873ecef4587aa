/**
 * One thing Cordon needs of the machine: what was found, what was expected, what to do.
 * @module
 */

/** `warn`: Cordon works, but less is enforced, or something invites trouble. `fail`: a confined run will not start. */
export type CheckState = 'ok' | 'warn' | 'fail';

export const CHECK_GROUPS = ['kernel', 'backends', 'helper', 'addon', 'paths', 'install'] as const;
export type CheckGroup = (typeof CHECK_GROUPS)[number];

export interface Check {
  /** Stable name: `group.thing`. */
  readonly id: string;
  readonly group: CheckGroup;
  readonly state: CheckState;
  readonly found: string;
  readonly expected: string;
  /** What to do; absent when nothing has to be done. */
  readonly remedy?: string;
}

/** What a check is about, fixed before anything is looked at. */
export type Subject = Pick<Check, 'id' | 'group' | 'expected'>;

/** What looking came to. */
export type Finding = Pick<Check, 'state' | 'found' | 'remedy'>;

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Looks. A check that cannot be made is a failed check, never an exception: the doctor is for machines where things break. */
export async function check(
  subject: Subject,
  look: () => Finding | Promise<Finding>,
): Promise<Check> {
  try {
    return { ...subject, ...(await look()) };
  } catch (error) {
    return { ...subject, state: 'fail', found: words(error) };
  }
}

/** The worst state of all. */
export function worst(checks: readonly Check[]): CheckState {
  if (checks.some(({ state }) => state === 'fail')) return 'fail';
  return checks.some(({ state }) => state === 'warn') ? 'warn' : 'ok';
}
