/**
 * Subcommands of git that list in one form and change the repository in another. Data.
 * @module
 */

import { type Form, flags, type GitOption, optionals, type Subcommand, values } from './grammar.js';
import { DIFF, LISTED_REFS, LOG } from './log-options.js';

const CONFIGURES = 'changes the configuration of the repository, which can name programs';

const configures: Form = { is: 'unknown', options: 'any', reason: CONFIGURES };
const contacts: Form = { is: 'network', options: 'any', reason: 'contacts a remote' };
const writes = (reason: string): Form => ({ is: 'write', options: 'any', reason });

/** A form that writes and has no options worth telling apart but these. */
const writing = (
  options: readonly GitOption[],
  reason: string,
  more: Omit<Form, 'is' | 'options'> = {},
): Form => ({ is: 'write', options, reason, ...more });

const LISTING = ['--contains', '--no-contains', '--merged', '--no-merged', '--with', '--without'];

const BRANCHES: readonly GitOption[] = [
  ...LISTED_REFS,
  ...flags(`-v|--verbose -q|--quiet -r|--remotes -a|--all -l|--list --show-current --no-abbrev
    --no-verbose`),
  ...optionals('--abbrev'),
];

const TAGS: readonly GitOption[] = [...LISTED_REFS, ...flags('-l|--list'), ...optionals('-n')];

const STASHED: readonly GitOption[] = [
  ...flags(`-k|--[no-]keep-index -q|--[no-]quiet -u|--[no-]include-untracked -a|--all -S|--staged
    --pathspec-file-nul`),
  ...values('-m|--message'),
  ...values('--pathspec-from-file', { does: 'reads' }),
];

const CONFIG_SOURCES: readonly GitOption[] = [
  ...flags(`--global --system --local --worktree --bool --int --bool-or-int --bool-or-str --path
    --expiry-date --no-type -z|--null --name-only --no-includes --show-origin --show-scope
    --fixed-value`),
  ...values('--blob --type --default'),
  ...values('-f|--file', { does: 'reads' }),
];

const CONFIG_READ: readonly GitOption[] = [
  ...CONFIG_SOURCES,
  ...flags(`-l|--list --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool`),
];

/** The forms of before 2.46, without a word for what they do. */
const CONFIG_CHANGED: readonly GitOption[] = [
  ...CONFIG_SOURCES,
  ...flags(`--replace-all --add --unset --unset-all --rename-section --remove-section
    -e|--edit --all --append`),
  ...values('--value --comment'),
];

const changesConfig: readonly Form[] = [
  {
    is: 'persistence',
    options: CONFIG_CHANGED,
    with: ['--global', '--system'],
    stops: true,
    reason: 'changes the configuration of every repository, which can name programs',
  },
  configures,
];

const readsConfig = (words: string): readonly Form[] => [
  {
    is: 'read',
    stops: true,
    options: [
      ...CONFIG_SOURCES,
      ...flags(`--show-names --no-show-names --all --regexp ${words}`),
      ...values('--value --url'),
    ],
  },
];

/** The subcommands that are several commands. */
export const FAMILIES: Readonly<Record<string, Subcommand>> = {
  branch: [
    { is: 'read', options: BRANCHES, atMost: 0 },
    {
      is: 'read',
      options: BRANCHES,
      with: ['-l', '--list', '--show-current', '--points-at', ...LISTING],
    },
    writing(
      flags(`-q|--quiet -v|--verbose -f|--force -d|--delete -D -m|--move -M -c|--copy -C
        --[no-]track --create-reflog -r|--remotes`),
      'creates, moves or deletes a branch',
      { atLeast: 1 },
    ),
    {
      is: 'unknown',
      options: [...flags('--unset-upstream --edit-description'), ...values('-u|--set-upstream-to')],
      reason: CONFIGURES,
    },
  ],
  tag: [
    { is: 'read', options: TAGS, atMost: 0 },
    { is: 'read', options: TAGS, with: ['-l', '--list', '-n', '--points-at', ...LISTING] },
    writing(
      [
        ...flags('-a|--annotate -f|--force -d|--delete --create-reflog'),
        ...values('-m|--message --cleanup'),
        ...values('-F|--file', { does: 'reads' }),
      ],
      'creates or deletes a tag',
      { atLeast: 1 },
    ),
  ],
  remote: {
    before: flags('-v|--verbose'),
    alone: [{ is: 'read', options: flags('-v|--verbose'), atMost: 0 }],
    verbs: {
      'get-url': [{ is: 'read', options: flags('--push --all') }],
      show: [
        { is: 'read', options: [], atMost: 0 },
        { is: 'read', options: flags('-n'), with: ['-n'] },
        contacts,
      ],
      update: [contacts],
      prune: [contacts],
      add: [{ is: 'network', options: flags('-f|--fetch'), with: ['-f', '--fetch'] }, configures],
      'set-head': [
        { is: 'network', options: flags('-a|--auto'), with: ['-a', '--auto'] },
        configures,
      ],
      rename: [configures],
      remove: [configures],
      rm: [configures],
      'set-branches': [configures],
      'set-url': [configures],
    },
  },
  config: {
    before: [],
    alone: [
      { is: 'read', options: CONFIG_READ, stops: true, atMost: 1 },
      {
        is: 'read',
        options: CONFIG_READ,
        stops: true,
        with: [
          '--get',
          '--get-all',
          '--get-regexp',
          '--get-urlmatch',
          '--get-color',
          '--get-colorbool',
        ],
      },
      ...changesConfig,
    ],
    verbs: {
      list: readsConfig(''),
      get: readsConfig(''),
      set: changesConfig,
      unset: changesConfig,
      'rename-section': changesConfig,
      'remove-section': changesConfig,
      edit: changesConfig,
    },
  },
  stash: {
    before: [],
    alone: [writing(STASHED, 'puts changes aside', { operands: 'paths' })],
    verbs: {
      list: [{ is: 'read', options: LOG, digits: true }],
      show: [
        {
          is: 'read',
          options: [...DIFF, ...flags('--only-untracked --[no-]include-untracked')],
        },
      ],
      push: [writing(STASHED, 'puts changes aside', { operands: 'paths' })],
      save: [writing(STASHED, 'puts changes aside')],
      pop: [writes('brings changes back')],
      apply: [writes('brings changes back')],
      drop: [writes('deletes a stash')],
      clear: [writes('deletes every stash')],
      branch: [writes('creates a branch')],
      create: [writes('writes objects')],
      store: [writes('writes a reference')],
    },
  },
  reflog: {
    before: [],
    alone: [{ is: 'read', options: LOG, digits: true, operands: 'paths' }],
    verbs: {
      show: [{ is: 'read', options: LOG, digits: true, operands: 'paths' }],
      list: [{ is: 'read', options: [] }],
      exists: [{ is: 'read', options: [] }],
      expire: [writes('deletes entries')],
      delete: [writes('deletes entries')],
      drop: [writes('deletes entries')],
      write: [writes('writes entries')],
    },
  },
  worktree: {
    before: [],
    alone: [],
    verbs: {
      list: [
        { is: 'read', options: [...flags('--porcelain -z -v|--verbose'), ...values('--expire')] },
      ],
      add: [
        writing(
          [
            ...flags(`-f|--force -d|--detach --[no-]checkout --[no-]guess-remote --[no-]track --lock
              -q|--quiet --orphan`),
            ...values('-b -B --reason'),
          ],
          'makes another work tree',
          { operands: 'written' },
        ),
      ],
      move: [writing(flags('-f|--force'), 'moves a work tree', { operands: 'written' })],
      remove: [writing(flags('-f|--force'), 'deletes a work tree', { operands: 'written' })],
      prune: [writes('deletes what is known of work trees')],
      lock: [writes('locks a work tree')],
      unlock: [writes('unlocks a work tree')],
      repair: [writes('rewrites where work trees are')],
    },
  },
  notes: {
    before: values('--ref'),
    alone: [{ is: 'read', options: values('--ref'), atMost: 0 }],
    verbs: {
      list: [{ is: 'read', options: [] }],
      show: [{ is: 'read', options: [] }],
      'get-ref': [{ is: 'read', options: [] }],
      remove: [writes('deletes notes')],
      prune: [writes('deletes notes')],
      merge: [writes('changes notes')],
      copy: [writes('changes notes')],
      add: [
        writing(
          [
            ...flags('-f|--force --allow-empty'),
            ...values('-m|--message -C|--reuse-message'),
            ...values('-F|--file', { does: 'reads' }),
          ],
          'adds a note',
          { with: ['-m', '--message', '-F', '--file', '-C', '--reuse-message'] },
        ),
      ],
      append: [
        writing(
          [...values('-m|--message'), ...values('-F|--file', { does: 'reads' })],
          'adds a note',
          { with: ['-m', '--message', '-F', '--file'] },
        ),
      ],
    },
  },
  'symbolic-ref': [
    {
      is: 'read',
      options: flags('-q|--quiet --short --[no-]recurse'),
      atLeast: 1,
      atMost: 1,
    },
    writes('changes where a reference leads'),
  ],
  bisect: {
    before: [],
    alone: [],
    verbs: {
      log: [{ is: 'read', options: [] }],
      terms: [{ is: 'read', options: flags('--term-good --term-bad --term-old --term-new') }],
      start: [writes('starts a search over commits')],
      good: [writes('checks out another commit')],
      bad: [writes('checks out another commit')],
      new: [writes('checks out another commit')],
      old: [writes('checks out another commit')],
      skip: [writes('checks out another commit')],
      reset: [writes('checks out another commit')],
      next: [writes('checks out another commit')],
      replay: [writes('replays a search over commits')],
    },
  },
  bundle: {
    before: [],
    alone: [],
    verbs: {
      verify: [{ is: 'read', options: flags('-q|--quiet'), operands: 'paths' }],
      'list-heads': [{ is: 'read', options: [], operands: 'paths' }],
      create: [
        writing(
          [...flags('-q|--quiet --progress --all-progress --all-progress-implied'), ...LOG],
          'writes a bundle',
          { operands: 'written' },
        ),
      ],
      unbundle: [writes('writes objects')],
    },
  },
  submodule: {
    before: flags('-q|--quiet --cached'),
    alone: [{ is: 'read', options: flags('-q|--quiet --cached'), atMost: 0 }],
    verbs: {
      status: [
        {
          is: 'read',
          options: flags('-q|--quiet --cached --recursive'),
          operands: 'paths',
        },
      ],
      update: [contacts],
      add: [contacts],
      init: [configures],
      deinit: [configures],
      sync: [configures],
      'set-branch': [configures],
      'set-url': [configures],
      absorbgitdirs: [writes('moves repositories of submodules')],
    },
  },
  'sparse-checkout': {
    before: [],
    alone: [],
    verbs: {
      list: [{ is: 'read', options: [] }],
      set: [configures],
      add: [configures],
      init: [configures],
      disable: [configures],
      reapply: [configures],
    },
  },
  replace: [
    { is: 'read', options: [...flags('-l|--list'), ...values('--format')], atMost: 0 },
    {
      is: 'read',
      options: [...flags('-l|--list'), ...values('--format')],
      with: ['-l', '--list'],
    },
    writing(flags('-d|--delete -f|--force --graft --raw'), 'replaces an object', { atLeast: 1 }),
  ],
  'commit-graph': {
    before: [],
    alone: [],
    verbs: {
      verify: [{ is: 'read', options: flags('--shallow --progress --no-progress') }],
      write: [writes('writes the graph of commits')],
    },
  },
  maintenance: {
    before: [],
    alone: [],
    verbs: {
      run: [writes('rewrites the object store')],
      start: [{ is: 'persistence', options: 'any', reason: 'makes work that is run later' }],
      register: [{ is: 'persistence', options: 'any', reason: 'makes work that is run later' }],
      stop: [{ is: 'unknown', options: 'any', reason: 'changes the work that is run later' }],
      unregister: [{ is: 'unknown', options: 'any', reason: 'changes the work that is run later' }],
    },
  },
  credential: {
    before: [],
    alone: [],
    verbs: {
      fill: [{ is: 'secrets', options: 'any', reason: 'prints a password' }],
      approve: [{ is: 'unknown', options: 'any', reason: 'stores a password' }],
      reject: [{ is: 'unknown', options: 'any', reason: 'forgets a password' }],
    },
  },
};
