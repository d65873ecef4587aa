/**
 * What a command that is let through because it only reads finds in its environment: git leaves its index as it is, and
 * nothing waits in a pager.
 * @module
 */

type Variables = Readonly<Record<string, string | undefined>>;

const PAGERS = ['PAGER', 'GIT_PAGER', 'MANPAGER', 'SYSTEMD_PAGER', 'BAT_PAGER'] as const;
const COUNT = 'GIT_CONFIG_COUNT';
/** GIT_OPTIONAL_LOCKS keeps `git status` from writing; `git diff` refreshes the index all the same. */
const REFRESH = 'diff.autoRefreshIndex';

/** Variables to add to those that a command has already. */
export function readingVariables(given: Variables): Readonly<Record<string, string>> {
  const variables: Record<string, string> = { GIT_OPTIONAL_LOCKS: '0' };
  for (const name of PAGERS) variables[name] = 'cat';
  const count = Number(given[COUNT] ?? 0);
  // With a count that is none git refuses to run, and shall go on to.
  if (!Number.isSafeInteger(count) || count < 0) return variables;
  return {
    ...variables,
    [COUNT]: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: REFRESH,
    [`GIT_CONFIG_VALUE_${count}`]: 'false',
  };
}
