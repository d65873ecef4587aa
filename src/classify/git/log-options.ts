/**
 * Options that many subcommands of git share: of differences, of walks over commits, of formats. Data.
 * @module
 */

import { flags, type GitOption, optionals, values } from './grammar.js';

/** What starts programs wherever differences are made. */
const DIFF_PROGRAMS = flags('--ext-diff --textconv', { does: 'runs' });

/** How differences are made and printed. */
export const DIFF: readonly GitOption[] = [
  ...flags(`-p|-u|--patch -s|--no-patch -W|--[no-]function-context --raw --patch-with-raw
    --patch-with-stat --numstat --shortstat --cumulative --check --summary --name-only --name-status
    --[no-]compact-summary --binary --[no-]full-index --no-color --no-prefix --default-prefix
    --no-abbrev
    -D|--irreversible-delete --find-copies-harder --no-find-copies-harder --no-renames
    --[no-]rename-empty --[no-]follow --[no-]minimal -w|--ignore-all-space -b|--ignore-space-change
    --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines --[no-]indent-heuristic
    --patience --histogram --no-color-moved --no-color-moved-ws --no-relative -a|--[no-]text
    --[no-]exit-code --[no-]quiet --no-ext-diff --no-textconv --ita-invisible-in-index
    --ita-visible-in-index --pickaxe-all --pickaxe-regex -R -z`),
  ...values(`--inter-hunk-context --stat-width --stat-name-width --stat-graph-width
    --stat-count --src-prefix --dst-prefix --line-prefix --output-indicator-new
    --output-indicator-old --output-indicator-context --diff-algorithm --anchored
    --word-diff-regex -I|--ignore-matching-lines -S -G -l --find-object --diff-filter
    --rotate-to --skip-to --ws-error-highlight --color-moved-ws`),
  ...optionals(`-U|--unified -X|--dirstat --dirstat-by-file --stat --color --abbrev -B|--break-rewrites
    -M|--find-renames -C|--find-copies --word-diff --color-words --color-moved
    --relative --ignore-submodules --submodule`),
  ...values('-O', { does: 'reads' }),
  ...values('--output', { does: 'writes' }),
  ...DIFF_PROGRAMS,
];

/** Which commits are walked, and in which order. */
export const WALK: readonly GitOption[] = [
  ...flags(`--all --reflog --single-worktree --ignore-missing --bisect --stdin --cherry-mark
    --cherry-pick --left-only --right-only --cherry -g|--walk-reflogs --merge --boundary
    -i|--regexp-ignore-case -E|--extended-regexp -F|--fixed-strings -P|--perl-regexp
    --basic-regexp --all-match --invert-grep --remove-empty --merges --no-merges --no-min-parents
    --no-max-parents --first-parent --exclude-first-parent-only --not --simplify-by-decoration
    --show-pulls --full-history --dense --sparse --simplify-merges --date-order
    --author-date-order --topo-order --reverse --do-walk --parents --children --left-right
    --end-of-options`),
  ...values(`-n|--max-count --skip --since|--after --since-as-filter --until|--before --author
    --committer --grep --grep-reflog --max-age --min-age --glob --exclude`),
  ...optionals(`--min-parents --max-parents --branches --tags --remotes --ancestry-path --no-walk`),
];

/** How commits are printed. */
export const PRINTED_COMMIT: readonly GitOption[] = [
  ...flags(`--abbrev-commit --no-abbrev-commit --oneline --no-expand-tabs --no-notes
    --standard-notes --no-standard-notes --relative-date --graph --no-graph --log-size
    --full-diff --root -m -c --cc -t -r --combined-all-paths --no-diff-merges`),
  ...values('--date --encoding'),
  ...optionals('--expand-tabs --notes --show-notes --show-linear-break'),
  // A merge made anew writes the objects it is made of.
  ...values('--diff-merges', {
    accepts: /^(?:off|none|on|first-parent|1|separate|m|combined|c|dense-combined|cc)$/,
  }),
  ...optionals('--pretty --format', { does: 'formats' }),
  ...flags('--show-signature', { does: 'runs' }),
];

/** `git log` and what prints as it does. */
export const LOG: readonly GitOption[] = [
  ...DIFF,
  ...WALK,
  ...PRINTED_COMMIT,
  ...flags(`-q --[no-]source --[no-]use-mailmap|--[no-]mailmap --clear-decorations --no-decorate
    --no-decorate-refs --no-decorate-refs-exclude`),
  ...values('-L --decorate-refs --decorate-refs-exclude'),
  ...optionals('--decorate'),
];

/** Which references are listed: of `branch`, `tag`, `for-each-ref`. */
export const LISTED_REFS: readonly GitOption[] = [
  ...flags('-i|--ignore-case --no-color --no-column --no-sort --omit-empty'),
  ...values('--points-at'),
  // By the signature: the checker of signatures is started.
  ...values('--sort', { accepts: /^(?!.*signature)/ }),
  // What they take may also stand in the next word: an operand to us, which changes nothing here.
  ...optionals('--contains --no-contains --merged --no-merged --with --without --color --column'),
  ...values('--format', { does: 'formats' }),
];
