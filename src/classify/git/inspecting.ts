/**
 * Subcommands of git that print, with the forms of them that do more. Data.
 * @module
 */

import { type Form, flags, type GitOption, optionals, type Subcommand, values } from './grammar.js';
import { DIFF, LISTED_REFS, LOG, PRINTED_COMMIT, WALK } from './log-options.js';

const read = (options: readonly GitOption[], more: Omit<Form, 'is' | 'options'> = {}): Form => ({
  is: 'read',
  options,
  ...more,
});

const logs: readonly Form[] = [read(LOG, { digits: true, operands: 'paths' })];

const GREP: readonly GitOption[] = [
  ...flags(`--[no-]cached --no-index --[no-]untracked --[no-]exclude-standard
    --[no-]recurse-submodules -v|--[no-]invert-match -i|--[no-]ignore-case -w|--[no-]word-regexp
    -a|--[no-]text -I --no-textconv -r|--[no-]recursive -E|--[no-]extended-regexp
    -G|--[no-]basic-regexp -F|--[no-]fixed-strings -P|--[no-]perl-regexp -n|--[no-]line-number
    --[no-]column -h -H --[no-]full-name -l|--[no-]files-with-matches|--[no-]name-only
    -L|--[no-]files-without-match -z|--[no-]null -o|--[no-]only-matching -c|--[no-]count --no-color
    --[no-]break --[no-]heading -p|--[no-]show-function -W|--[no-]function-context --and --or --not
    -q|--[no-]quiet --[no-]all-match`),
  ...values(`--max-depth -C|--context -B|--before-context -A|--after-context --threads -e
    -m|--max-count`),
  ...optionals('--color'),
  ...values('-f', { does: 'reads' }),
  ...optionals('-O|--open-files-in-pager', { does: 'runs' }),
  ...flags('--textconv', { does: 'runs' }),
];

const STATUS: readonly GitOption[] = [
  ...flags(`-v|--[no-]verbose -s|--[no-]short -b|--[no-]branch --[no-]show-stash
    --[no-]ahead-behind --no-porcelain --[no-]long -z|--[no-]null --no-untracked-files --no-ignored
    --no-ignore-submodules --no-column --no-renames --renames`),
  ...optionals(`--porcelain -u|--untracked-files --ignored --ignore-submodules --column
    -M|--find-renames`),
];

const LS_FILES: readonly GitOption[] = [
  ...flags(`-z -t -v -f -c|--[no-]cached -d|--[no-]deleted -m|--[no-]modified -o|--[no-]others
    -i|--[no-]ignored -s|--[no-]stage -k|--[no-]killed --[no-]directory --[no-]eol
    --[no-]empty-directory -u|--[no-]unmerged --[no-]resolve-undo --exclude-standard --full-name
    --[no-]recurse-submodules --[no-]error-unmatch --[no-]debug --[no-]deduplicate --[no-]sparse
    --no-abbrev`),
  ...values('-x|--exclude --exclude-per-directory --with-tree --format'),
  ...optionals('--abbrev'),
  ...values('-X|--exclude-from', { does: 'reads' }),
];

const LS_TREE: readonly GitOption[] = [
  ...flags(`-d -r -t -z -l|--long --name-only --name-status --object-only --[no-]full-name
    --[no-]full-tree --no-abbrev`),
  ...values('--format'),
  ...optionals('--abbrev'),
];

const CAT_FILE: readonly GitOption[] = [
  ...flags(`-e -p -t -s --[no-]allow-unknown-type --[no-]use-mailmap|--[no-]mailmap -z -Z
    --batch-all-objects --[no-]buffer --[no-]follow-symlinks --[no-]unordered`),
  ...optionals('--batch --batch-check --batch-command'),
  ...flags('--textconv --filters', { does: 'runs' }),
];

const REV_PARSE: readonly GitOption[] = [
  ...flags(`--verify -q|--quiet --sq --symbolic --symbolic-full-name --all --not --revs-only
    --no-revs --flags --no-flags --git-dir --absolute-git-dir --git-common-dir --show-toplevel
    --show-prefix --show-cdup --show-superproject-working-tree --is-inside-git-dir
    --is-inside-work-tree --is-bare-repository --is-shallow-repository --shared-index-path
    --local-env-vars --keep-dashdash --stop-at-non-option --stuck-long --parseopt --sq-quote
    --end-of-options`),
  ...values('--default --git-path --prefix'),
  ...values('--resolve-git-dir', { does: 'reads' }),
  ...optionals(`--abbrev-ref --short --branches --tags --remotes --glob --exclude --disambiguate
    --since --until --after --before --path-format --show-object-format --show-ref-format`),
];

const REV_LIST: readonly GitOption[] = [
  ...WALK,
  ...PRINTED_COMMIT.filter(({ does }) => does !== 'runs'),
  ...flags(`--count --header --timestamp --objects --objects-edge --objects-edge-aggressive
    --indexed-objects --unpacked --use-bitmap-index --test-bitmap --filter-print-omitted
    --no-filter --object-names --no-object-names --in-commit-order --bisect-vars --bisect-all
    --quiet --no-commit-header --commit-header --exclude-promisor-objects --cherry`),
  ...optionals('--disk-usage --filter --missing --progress --abbrev'),
];

const BLAME: readonly GitOption[] = [
  ...flags(`--[no-]incremental -b --[no-]root --[no-]show-stats --[no-]progress --[no-]score-debug
    -f|--[no-]show-name -n|--[no-]show-number -p|--[no-]porcelain --[no-]line-porcelain -c -t -l -s
    -e|--[no-]show-email -w --no-ignore-rev --no-ignore-revs-file --[no-]color-lines
    --[no-]color-by-age --[no-]minimal --no-contents --no-abbrev --first-parent --reverse`),
  ...values('--ignore-rev -L --since --date --encoding'),
  ...optionals('-C -M --abbrev'),
  ...values('--ignore-revs-file -S --contents', { does: 'reads' }),
];

const DESCRIBE: readonly GitOption[] = [
  ...flags(`--[no-]contains --[no-]debug --[no-]all --[no-]tags --[no-]long --[no-]first-parent
    --no-abbrev --[no-]exact-match --[no-]always`),
  ...values('--candidates --match --exclude'),
  ...optionals('--abbrev --broken'),
];

const SHORTLOG: readonly GitOption[] = [
  ...flags('-c|--[no-]committer -n|--[no-]numbered -s|--[no-]summary -e|--[no-]email'),
  ...values('--group', { does: 'formats' }),
  ...optionals('-w'),
  ...optionals('--format --pretty', { does: 'formats' }),
  ...WALK.filter(({ names }) => !names.includes('-n')),
  ...values('--max-count --date'),
];

const FSCK: readonly GitOption[] = [
  ...flags(`-v|--verbose --[no-]unreachable --[no-]dangling --[no-]tags --[no-]root --[no-]cache
    --[no-]reflogs --[no-]full --[no-]connectivity-only --[no-]strict --[no-]progress
    --[no-]name-objects`),
];

const APPLIED: readonly GitOption[] = [
  ...flags(`--check --stat --numstat --summary --no-add -z -R|--reverse --unidiff-zero
    --allow-overlap -v|--verbose -q|--quiet --inaccurate-eof --recount --allow-empty
    --allow-binary-replacement --binary --ignore-space-change --ignore-whitespace`),
  ...values('--exclude --include -p -C --whitespace --directory'),
];

const FORMATTED_PATCH: readonly GitOption[] = [
  ...LOG.filter(
    ({ names }) => !['-n', '-s', '--stat', '-q', '-c', '--cc'].some((name) => names.includes(name)),
  ),
  ...flags(`--stdout -n|--numbered -N|--no-numbered -s|--signoff -k|--keep-subject --rfc
    --zero-commit --ignore-if-in-upstream --no-stat -p|--no-stat --no-signature --no-cc --no-to
    --no-thread --no-attach --no-binary --cover-letter --no-cover-letter --always`),
  ...values(
    `-v|--reroll-count --start-number --subject-prefix --add-header --to --cc --in-reply-to
    --signature`,
  ),
  ...optionals('--stat --from --attach --inline --thread'),
];

const CLEANED: readonly GitOption[] = [
  ...flags('-q|--quiet -n|--dry-run -d -x -X -f|--force'),
  ...values('-e|--exclude'),
];

const cleans: Form = {
  is: 'write',
  options: CLEANED,
  operands: 'paths',
  reason: 'deletes what git does not track',
};

/** The subcommands whose first purpose is to print. */
export const INSPECTING: Readonly<Record<string, Subcommand>> = {
  status: [read(STATUS, { operands: 'paths' })],
  diff: [
    read(
      [
        ...DIFF,
        ...flags(`--cached --staged --no-index --merge-base -1|--base -2|--ours -3|--theirs
          -0 -q -c --cc -m`),
      ],
      { operands: 'paths' },
    ),
  ],
  log: logs,
  show: logs,
  whatchanged: logs,
  'diff-tree': [
    read([...LOG, ...flags('--no-commit-id --merge-base')], { digits: true, operands: 'paths' }),
  ],
  'diff-index': [read([...DIFF, ...flags('--cached --merge-base -m')], { operands: 'paths' })],
  'diff-files': [
    read([...DIFF, ...flags('-q -0 -1|--base -2|--ours -3|--theirs -c --cc')], {
      operands: 'paths',
    }),
  ],
  'range-diff': [
    read([
      ...DIFF,
      ...flags('--no-dual-color --dual-color --left-only --right-only --no-notes'),
      ...values('--creation-factor'),
      ...optionals('--notes'),
    ]),
  ],
  cherry: [read([...flags('-v|--[no-]verbose --no-abbrev'), ...optionals('--abbrev')])],
  grep: [read(GREP, { digits: true, operands: 'pattern-paths' })],
  'ls-files': [read(LS_FILES, { operands: 'paths' })],
  'ls-tree': [read(LS_TREE, { operands: 'paths' })],
  'cat-file': [read(CAT_FILE, { operands: 'paths' })],
  'rev-parse': [read(REV_PARSE)],
  'rev-list': [read(REV_LIST, { digits: true })],
  'merge-base': [read(flags('-a|--[no-]all --octopus --independent --is-ancestor --fork-point'))],
  'for-each-ref': [
    read([
      ...LISTED_REFS,
      ...flags(`-s|--[no-]shell -p|--[no-]perl --[no-]python --[no-]tcl --stdin
        --include-root-refs`),
      ...values('--count --exclude --start-after'),
    ]),
  ],
  'show-ref': [
    read([
      ...flags(`--[no-]tags --[no-]heads --branches --verify --head -d|--[no-]dereference
        -q|--[no-]quiet --exists --no-abbrev`),
      ...optionals('-s|--hash --abbrev --exclude-existing'),
    ]),
  ],
  'show-branch': [
    read([
      ...flags(`-a|--[no-]all -r|--[no-]remotes --no-color --[no-]list --no-name --[no-]current
        --[no-]sha1-name --[no-]merge-base --[no-]independent --[no-]topo-order --[no-]topics
        --[no-]sparse --[no-]date-order`),
      ...optionals('--color --more -g|--reflog'),
    ]),
  ],
  'name-rev': [
    read([
      ...flags(`--[no-]name-only --[no-]tags --[no-]all --stdin --[no-]annotate-stdin
        --[no-]undefined --always --no-refs --no-exclude`),
      ...values('--refs --exclude'),
    ]),
  ],
  describe: [
    read(DESCRIBE),
    {
      is: 'write',
      options: [...DESCRIBE, ...optionals('--dirty')],
      reason: 'refreshes the index',
    },
  ],
  'check-ignore': [
    read(flags('-q|--[no-]quiet -v|--[no-]verbose --stdin -z -n|--[no-]non-matching --no-index')),
  ],
  'check-attr': [read([...flags('-a|--all --[no-]cached --[no-]stdin -z'), ...values('--source')])],
  'check-mailmap': [read(flags('--stdin'))],
  'check-ref-format': [
    read(
      flags('--normalize --print --allow-onelevel --no-allow-onelevel --refspec-pattern --branch'),
    ),
  ],
  shortlog: [read(SHORTLOG, { digits: true, operands: 'paths' })],
  blame: [read(BLAME, { operands: 'paths' })],
  annotate: [read(BLAME, { operands: 'paths' })],
  'count-objects': [read(flags('-v|--verbose -H|--human-readable'))],
  fsck: [
    read(FSCK),
    {
      is: 'write',
      options: [...FSCK, ...flags('--lost-found')],
      reason: 'writes the dangling objects it finds',
    },
  ],
  'verify-pack': [
    read([...flags('-v|--verbose -s|--stat-only'), ...values('--object-format')], {
      operands: 'paths',
    }),
  ],
  'patch-id': [read(flags('--stable --unstable --verbatim'))],
  stripspace: [read(flags('-s|--strip-comments -c|--comment-lines'))],
  column: [read([...values('--width --indent --padding'), ...optionals('--mode')])],
  'get-tar-commit-id': [read([])],
  'show-index': [read(values('--object-format'))],
  'fmt-merge-msg': [
    read([
      ...flags('--no-log'),
      ...values('-m|--message --into-name'),
      ...optionals('--log'),
      ...values('-F|--file', { does: 'reads' }),
    ]),
  ],
  'interpret-trailers': [
    read(flags('--parse --only-input --only-trailers --unfold --no-divider'), {
      with: ['--parse'],
      operands: 'paths',
    }),
  ],
  var: [read(flags('-l'))],
  version: [read(flags('--build-options'))],
  help: [
    read(
      flags(`-a|--all --no-external-commands --no-aliases --verbose -v --no-verbose -g|--guides
        -c|--config --user-interfaces --developer-interfaces`),
      { atMost: 0 },
    ),
    { is: 'unknown', options: 'any', reason: 'starts the reader of manuals' },
  ],
  'hash-object': [
    read([...flags('--stdin --stdin-paths --no-filters --literally'), ...values('-t --path')], {
      operands: 'paths',
    }),
    { is: 'write', options: 'any', reason: 'writes an object' },
  ],
  archive: [
    read(flags('-l|--list'), { with: ['-l', '--list'], atMost: 0 }),
    { is: 'unknown', options: 'any', reason: 'runs filters that the configuration names' },
  ],
  'fast-export': [
    read(
      [
        ...WALK,
        ...flags(`--[no-]fake-missing-tagger --[no-]full-tree --[no-]use-done-feature --no-data
          --[no-]anonymize --[no-]reference-excluded-parents --[no-]show-original-ids --mark-tags`),
        ...values(`--progress --signed-tags --tag-of-filtered-object --reencode --refspec
          --anonymize-map`),
        ...values('--import-marks --import-marks-if-exists', { does: 'reads' }),
        ...values('--export-marks', { does: 'writes' }),
      ],
      { digits: true, operands: 'paths' },
    ),
  ],
  'format-patch': [
    read(FORMATTED_PATCH, { digits: true, with: ['--stdout'], operands: 'paths' }),
    {
      is: 'write',
      digits: true,
      options: [
        ...FORMATTED_PATCH,
        ...values('-o|--output-directory', { does: 'writes' }),
        ...flags('--numbered-files'),
        ...values('--suffix'),
      ],
      reason: 'writes a file for each commit',
    },
  ],
  apply: [
    read(APPLIED, { with: ['--check', '--stat', '--numstat', '--summary'], operands: 'paths' }),
    {
      is: 'write',
      options: [
        ...APPLIED,
        ...flags('--index -N|--intent-to-add --cached --apply -3|--3way --reject'),
      ],
      operands: 'paths',
      reason: 'changes files by a patch',
    },
  ],
  'merge-file': [
    read(
      [
        ...flags('-p|--stdout --diff3 --zdiff3 --ours --theirs --union -q|--quiet --object-id'),
        ...values('--marker-size -L --diff-algorithm'),
      ],
      { with: ['-p', '--stdout'], operands: 'paths' },
    ),
    { is: 'write', options: 'any', reason: 'writes the merged file' },
  ],
  clean: [read(CLEANED, { with: ['-n', '--dry-run'], operands: 'paths' }), cleans],
};
