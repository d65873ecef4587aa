/**
 * Names that are protected wherever they stand beneath a writable root. Data.
 *
 * A name is here when a program outside runs what is written there without being asked for it by name: on opening a
 * directory or a shell, on entering it, on the next commit, or because it reads it before doing something else. What runs
 * because somebody asks for it (`package.json`, `Makefile`, sources, tests, `.github`) is not: writing that is a command's ordinary work,
 * and who runs it can confine it.
 * @module
 */

import type { ProtectedClass } from './protection.js';

export interface ProtectedName {
  readonly class: ProtectedClass;
  /** Who runs it, and when. */
  readonly why: string;
  /** Names of files or directories; of a suffix the end of one (`*.code-workspace`); with a slash a path beneath the root. */
  readonly names: readonly string[];
}

export const PROTECTED_NAMES: readonly ProtectedName[] = [
  {
    class: 'shell-startup',
    why: 'a shell runs it as it starts or ends',
    names: [
      '.bashrc',
      '.bash_profile',
      '.bash_login',
      '.bash_logout',
      '.bash_aliases',
      '.profile',
      '.zshrc',
      '.zshenv',
      '.zprofile',
      '.zlogin',
      '.zlogout',
      '.kshrc',
      '.mkshrc',
      '.cshrc',
      '.tcshrc',
      '.login',
      '.logout',
      '.config/fish/config.fish',
      '.config/fish/conf.d',
      '.config/fish/functions',
    ],
  },
  {
    class: 'shell-startup',
    why: 'a session or a terminal starts with it',
    names: [
      '.xinitrc',
      '.xprofile',
      '.xsession',
      '.xsessionrc',
      '.pam_environment',
      '.inputrc',
      '.tmux.conf',
      '.screenrc',
      '.config/autostart',
      '.config/environment.d',
      '.config/systemd/user',
      '.config/tmux',
    ],
  },
  {
    class: 'shell-startup',
    why: 'a shell runs it on entering the directory',
    names: ['.envrc', 'mise.toml', '.mise.toml'],
  },
  {
    class: 'git-config',
    why: 'git runs programs that it names',
    names: ['.gitconfig', '.config/git/config', '.config/git/hooks'],
  },
  {
    class: 'git-hooks',
    why: 'the installed hooks of a repository run it on the next commit',
    names: ['.husky', '.pre-commit-config.yaml', 'lefthook.yml', '.lefthook.yml'],
  },
  {
    class: 'editor-tasks',
    why: 'an editor runs tasks, interpreters or language servers that it names on opening the directory',
    names: [
      '.vscode',
      '.idea',
      '.zed',
      '.fleet',
      '.helix',
      '.theia',
      '*.code-workspace',
      '*.sublime-project',
      '.devcontainer',
      '.devcontainer.json',
    ],
  },
  {
    class: 'editor-tasks',
    why: 'an editor runs it as it starts, or on opening a file beside it',
    names: [
      '.vimrc',
      '.gvimrc',
      '.vim',
      '.exrc',
      '.nvimrc',
      '.nvim.lua',
      '.emacs',
      '.emacs.d',
      '.dir-locals.el',
      '.config/nvim',
      '.config/emacs',
    ],
  },
  {
    class: 'tool-config',
    why: 'a debugger or an interpreter runs it as it starts in the directory',
    names: [
      '.gdbinit',
      '.lldbinit',
      '.pdbrc',
      '.ghci',
      '.Rprofile',
      '.irbrc',
      '.pryrc',
      '.ocamlinit',
      '.psqlrc',
      '.sqliterc',
    ],
  },
  {
    class: 'tool-config',
    why: 'a package manager loads programs, shells and registries that it names',
    names: ['.npmrc', '.yarnrc', '.yarnrc.yml'],
  },
  {
    class: 'tool-config',
    why: 'it says which programs and files a transfer or a signature uses',
    names: ['.curlrc', '.wgetrc', '.ssh', '.gnupg/gpg.conf', '.gnupg/gpg-agent.conf'],
  },
  {
    class: 'agent-config',
    why: 'a coding agent starts the servers and hooks that it names, and follows its instructions',
    names: [
      '.mcp.json',
      '.claude',
      '.claude.json',
      '.cursor',
      '.codex',
      '.gemini',
      '.windsurf',
      '.continue',
      '.kiro',
      '.roo',
      '.aider.conf.yml',
      '.opencode',
    ],
  },
  {
    class: 'cordon',
    why: 'it says what the next run may do',
    names: ['cordon.toml', '.cordon'],
  },
];

interface NameRow {
  readonly class: ProtectedClass;
  readonly why: string;
}

/** The names by how they are looked for. All in lower case: some file systems have no other. */
interface SearchedNames {
  readonly names: readonly string[];
  readonly suffixes: readonly string[];
  /** As they are written: a path is looked up, not compared. */
  readonly places: readonly string[];
}

const ALL = PROTECTED_NAMES.flatMap((row) => row.names);

/** What a search is told to look for. */
export const SEARCHED: SearchedNames = {
  names: ALL.filter((name) => !name.includes('/') && !name.startsWith('*')).map(lower),
  suffixes: ALL.filter((name) => name.startsWith('*')).map((name) => lower(name.slice(1))),
  places: ALL.filter((name) => name.includes('/')),
};

const ROWS: ReadonlyMap<string, NameRow> = new Map(
  PROTECTED_NAMES.flatMap((row) => row.names.map((name) => [lower(name), row] as const)),
);

/** The row of an object by its path, which ends with one of the names. */
export function protectedName(path: string): NameRow | undefined {
  const name = lower(path.slice(path.lastIndexOf('/') + 1));
  const own = ROWS.get(name);
  if (own !== undefined) return own;
  const place = SEARCHED.places.find((each) => path.endsWith(`/${each}`));
  if (place !== undefined) return ROWS.get(lower(place));
  const suffix = SEARCHED.suffixes.find((each) => name.endsWith(each));
  return suffix === undefined ? undefined : ROWS.get(`*${suffix}`);
}

function lower(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
