/**
 * Subcommands of git whose purpose is to change something, or to reach another place. Data.
 * @module
 */

import type { CommandClass } from '../../schema/command-class.js';
import {
  type Form,
  flags,
  type GitOption,
  type Operands,
  optionals,
  type Subcommand,
  values,
} from './grammar.js';

const whatever =
  (is: CommandClass) =>
  (reason: string): readonly Form[] => [{ is, options: 'any', reason }];
const writes = whatever('write');
const contacts = whatever('network');
const programs = whatever('unknown');

const known = (
  reason: string,
  options: readonly GitOption[],
  operands: Operands = 'names',
): readonly Form[] => [{ is: 'write', options, operands, reason }];

const PATHSPEC_FILE: readonly GitOption[] = [
  ...flags('--pathspec-file-nul'),
  ...values('--pathspec-from-file', { does: 'reads' }),
];

const CHECKOUT: readonly GitOption[] = [
  ...flags(`-q|--quiet --[no-]progress -m|--merge -d|--detach -f|--force --[no-]guess
    --[no-]overwrite-ignore --ignore-other-worktrees -2|--ours -3|--theirs --[no-]overlay
    --ignore-skip-worktree-bits -l --no-track`),
  ...values('--conflict --orphan'),
  ...optionals('-t|--track --recurse-submodules'),
  ...PATHSPEC_FILE,
];

/** Strategies that git brings along: another name is a program. */
const STRATEGY: readonly GitOption[] = [
  ...values('-s|--strategy', { accepts: /^(?:ort|recursive|resolve|octopus|ours|subtree)$/ }),
  ...values('-X|--strategy-option'),
];

const MESSAGE: readonly GitOption[] = [
  ...values('-m|--message'),
  ...values('-F|--file', { does: 'reads' }),
];

const COMMIT: readonly GitOption[] = [
  ...MESSAGE,
  ...flags(`-q|--quiet -a|--all -i|--include -o|--only -n|--no-verify --verify --amend --no-edit
    --allow-empty --allow-empty-message -s|--[no-]signoff --reset-author --no-post-rewrite
    --dry-run --short --branch --porcelain --long -z|--null --[no-]status --no-gpg-sign`),
  ...values('--author --date -C|--reuse-message --cleanup --squash'),
  ...values('--fixup', { accepts: /^(?!amend:|reword:)/ }),
  ...optionals('-u|--untracked-files'),
  ...PATHSPEC_FILE,
];

const PICKED: readonly GitOption[] = [
  ...flags(`--quit --continue --abort --skip -n|--no-commit --no-edit -s|--signoff -x --ff
    --allow-empty --allow-empty-message --keep-redundant-commits --[no-]rerere-autoupdate
    --no-gpg-sign --reference`),
  ...values('-m|--mainline --cleanup'),
  ...STRATEGY,
];

/** The subcommands that change the repository, reach a remote, or start other programs. */
export const CHANGING: Readonly<Record<string, Subcommand>> = {
  add: known(
    'changes the index',
    [
      ...flags(`-n|--dry-run -v|--verbose -f|--force -u|--update --renormalize -N|--intent-to-add
        -A|--[no-]all --[no-]ignore-removal --refresh --ignore-errors --ignore-missing --sparse`),
      ...values('--chmod'),
      ...PATHSPEC_FILE,
    ],
    'paths',
  ),
  commit: [
    {
      is: 'write',
      options: COMMIT,
      with: [
        '-m',
        '--message',
        '-F',
        '--file',
        '-C',
        '--reuse-message',
        '--no-edit',
        '--fixup',
        '--dry-run',
      ],
      operands: 'paths',
      reason: 'makes a commit',
    },
    { is: 'unknown', options: COMMIT, reason: 'starts an editor' },
  ],
  checkout: known('changes files', [...CHECKOUT, ...values('-b -B')], 'paths'),
  switch: known('changes files', [
    ...CHECKOUT,
    ...flags('--discard-changes'),
    ...values('-c|--create -C|--force-create'),
  ]),
  restore: known(
    'changes files',
    [
      ...CHECKOUT.filter(({ names }) => !['-m', '-d'].some((name) => names.includes(name))),
      ...flags('-S|--[no-]staged -W|--[no-]worktree --ignore-unmerged -m|--merge'),
      ...values('-s|--source'),
    ],
    'paths',
  ),
  reset: known(
    'changes the branch, the index or files',
    [
      ...flags(`-q|--quiet --[no-]refresh --mixed --soft --hard --merge --keep -N|--intent-to-add`),
      ...optionals('--recurse-submodules'),
      ...PATHSPEC_FILE,
    ],
    'paths',
  ),
  rm: known(
    'deletes files',
    [
      ...flags('-n|--dry-run -q|--quiet --cached -f|--force -r --ignore-unmatch --sparse'),
      ...PATHSPEC_FILE,
    ],
    'written',
  ),
  mv: known('moves files', flags('-v|--verbose -n|--dry-run -f|--force -k --sparse'), 'written'),
  merge: known('merges', [
    ...MESSAGE,
    ...STRATEGY,
    ...flags(`-n --[no-]stat --[no-]summary --[no-]squash --[no-]commit --no-edit --[no-]ff --ff-only
      --[no-]rerere-autoupdate -v|--verbose -q|--quiet --abort --quit --continue
      --allow-unrelated-histories --[no-]progress --[no-]autostash --[no-]overwrite-ignore
      --[no-]signoff --no-verify --no-gpg-sign`),
    ...values('--cleanup --into-name'),
    ...optionals('--log'),
  ]),
  'cherry-pick': known('makes commits', PICKED),
  revert: [
    {
      is: 'write',
      options: PICKED,
      with: ['--no-edit', '-n', '--no-commit', '--quit', '--abort', '--skip'],
      reason: 'makes commits',
    },
    { is: 'unknown', options: PICKED, reason: 'starts an editor' },
  ],
  rebase: known('makes commits anew', [
    ...STRATEGY,
    ...flags(`-q|--quiet -v|--verbose --abort --quit --skip --[no-]stat -n --no-verify
      --[no-]autostash --[no-]autosquash --[no-]update-refs -f|--force-rebase|--no-ff --[no-]fork-point
      --root --keep-base -r --signoff --reset-author-date --committer-date-is-author-date
      --no-gpg-sign -m|--merge --apply --[no-]keep-empty --reapply-cherry-picks`),
    ...values('--onto --empty --whitespace -C'),
    ...optionals('--rebase-merges'),
  ]),
  init: known(
    'makes a repository',
    [...flags('-q|--quiet --bare'), ...values('-b|--initial-branch --object-format --ref-format')],
    'written',
  ),
  am: programs('applies mails and runs hooks'),
  'filter-branch': programs('runs the commands it is given'),
  'for-each-repo': programs('runs the command it is given'),
  hook: programs('runs a hook'),
  difftool: programs('starts a tool'),
  mergetool: programs('starts a tool'),
  instaweb: programs('starts a server'),
  gui: programs('starts a window'),
  citool: programs('starts a window'),
  bugreport: programs('starts an editor'),
  diagnose: programs('writes an archive of what it finds'),
  'verify-commit': programs('starts the program that checks signatures'),
  'verify-tag': programs('starts the program that checks signatures'),
  'merge-one-file': programs('changes files'),
  'merge-index': programs('runs the program it is given'),
  fetch: contacts('contacts a remote'),
  pull: contacts('contacts a remote'),
  push: contacts('contacts a remote'),
  clone: contacts('contacts a remote'),
  backfill: contacts('contacts a remote'),
  'ls-remote': contacts('contacts a remote'),
  'fetch-pack': contacts('contacts a remote'),
  'send-pack': contacts('contacts a remote'),
  'http-fetch': contacts('contacts a remote'),
  'http-push': contacts('contacts a remote'),
  'request-pull': contacts('contacts a remote'),
  'send-email': contacts('sends mail'),
  'imap-send': contacts('sends mail'),
  daemon: contacts('serves the network'),
  svn: contacts('contacts a remote'),
  p4: contacts('contacts a remote'),
  lfs: contacts('contacts a remote'),
  'credential-cache': whatever('secrets')('prints a password'),
  'credential-store': whatever('secrets')('prints a password'),
  gc: writes('rewrites the object store'),
  repack: writes('rewrites the object store'),
  prune: writes('deletes objects'),
  'prune-packed': writes('deletes objects'),
  'pack-refs': writes('rewrites references'),
  'pack-objects': writes('writes objects'),
  'index-pack': writes('writes objects'),
  'unpack-objects': writes('writes objects'),
  'multi-pack-index': writes('rewrites the object store'),
  'merge-tree': writes('writes objects'),
  replay: writes('writes objects and references'),
  mktree: writes('writes objects'),
  mktag: writes('writes objects'),
  'commit-tree': writes('writes objects'),
  'write-tree': writes('writes objects'),
  'fast-import': writes('writes objects'),
  'read-tree': writes('changes the index'),
  'update-index': writes('changes the index'),
  'update-ref': writes('changes references'),
  'update-server-info': writes('writes into the repository'),
  'checkout-index': writes('changes files'),
  'unpack-file': writes('writes a file'),
  stage: writes('changes the index'),
  rerere: writes('changes what is recorded of conflicts'),
  mailinfo: writes('writes the message and the patch into files'),
  mailsplit: writes('writes files'),
};
