/**
 * Which keys of git's configuration execute a program or lead git elsewhere. Data, and one lookup. Pure.
 * @module
 */

import type { Power } from '../schema/finding.js';
import type { ConfigEntry } from './git-config.js';

/** When a key is harmless by its value. `boolean`: it only switches something on or off. `name`: only `!` executes. */
type Harmless = 'never' | 'boolean' | 'name';

interface KeyRow {
  /** `section.key`, or `section.*.key` for any subsection; `*` as a key is any. */
  readonly pattern: string;
  readonly power: Extract<Power, 'git-program' | 'git-redirect'>;
  /** When git does what it says. */
  readonly why: string;
  readonly harmless?: Harmless;
}

const program = (why: string, harmless?: Harmless) =>
  ({ power: 'git-program', why, ...(harmless !== undefined && { harmless }) }) as const;
const redirect = (why: string, harmless?: Harmless) =>
  ({ power: 'git-redirect', why, ...(harmless !== undefined && { harmless }) }) as const;

const ROWS: readonly KeyRow[] = [
  { pattern: 'core.fsmonitor', ...program('git status executes it', 'boolean') },
  { pattern: 'core.sshcommand', ...program('fetch and push over ssh execute it') },
  { pattern: 'core.editor', ...program('commit executes it') },
  { pattern: 'core.pager', ...program('every paged output goes through it') },
  { pattern: 'core.askpass', ...program('a question for a password executes it') },
  { pattern: 'core.gitproxy', ...program('fetch over git:// executes it') },
  { pattern: 'core.alternaterefscommand', ...program('fetch from an alternate executes it') },
  { pattern: 'core.hookspath', ...redirect('hooks are taken from there') },
  { pattern: 'core.worktree', ...redirect('files are written there') },
  {
    pattern: 'core.attributesfile',
    ...redirect('attributes, which choose filters, come from there'),
  },
  { pattern: 'extensions.worktreeconfig', ...redirect('config.worktree is read as well') },
  { pattern: 'include.path', ...redirect('configuration is read from there') },
  { pattern: 'includeif.*.path', ...redirect('configuration is read from there') },
  { pattern: 'init.templatedir', ...redirect('hooks of new repositories are copied from there') },
  { pattern: 'alias.*', ...program('it is a command of its own') },
  { pattern: 'alias.*.*', ...program('it is a command of its own') },
  { pattern: 'pager.*', ...program('the output of the command goes through it', 'boolean') },
  { pattern: 'sequence.editor', ...program('rebase -i executes it') },
  { pattern: 'interactive.difffilter', ...program('add -p executes it') },
  { pattern: 'hook.*.command', ...program('git executes it at an event') },
  { pattern: 'filter.*.clean', ...program('add executes it') },
  { pattern: 'filter.*.smudge', ...program('checkout executes it') },
  { pattern: 'filter.*.process', ...program('add and checkout execute it') },
  { pattern: 'diff.external', ...program('diff executes it') },
  { pattern: 'diff.*.command', ...program('diff executes it') },
  { pattern: 'diff.*.textconv', ...program('diff and blame execute it') },
  { pattern: 'merge.*.driver', ...program('merge executes it') },
  { pattern: 'mergetool.*.cmd', ...program('mergetool executes it') },
  { pattern: 'mergetool.*.path', ...program('mergetool executes it') },
  { pattern: 'difftool.*.cmd', ...program('difftool executes it') },
  { pattern: 'difftool.*.path', ...program('difftool executes it') },
  { pattern: 'guitool.*.cmd', ...program('git gui executes it') },
  { pattern: 'man.*.cmd', ...program('help executes it') },
  { pattern: 'man.*.path', ...program('help executes it') },
  { pattern: 'browser.*.cmd', ...program('help and web commands execute it') },
  { pattern: 'browser.*.path', ...program('help and web commands execute it') },
  { pattern: 'trailer.*.command', ...program('interpret-trailers executes it') },
  { pattern: 'trailer.*.cmd', ...program('interpret-trailers executes it') },
  { pattern: 'tar.*.command', ...program('archive executes it') },
  { pattern: 'gc.recentobjectshook', ...program('gc executes it') },
  { pattern: 'credential.helper', ...program('a question for a password executes it') },
  { pattern: 'credential.*.helper', ...program('a question for a password executes it') },
  { pattern: 'gpg.program', ...program('signing and verifying execute it') },
  { pattern: 'gpg.*.program', ...program('signing and verifying execute it') },
  { pattern: 'gpg.*.defaultkeycommand', ...program('signing executes it') },
  { pattern: 'uploadpack.packobjectshook', ...program('serving a fetch executes it') },
  { pattern: 'remote.*.uploadpack', ...program('fetch executes it') },
  { pattern: 'remote.*.receivepack', ...program('push executes it') },
  { pattern: 'remote.*.vcs', ...program('fetch and push execute the transport it names') },
  { pattern: 'remote.*.proxy', ...redirect('fetch and push go through it') },
  { pattern: 'http.proxy', ...redirect('fetch and push go through it') },
  { pattern: 'http.*.proxy', ...redirect('fetch and push go through it') },
  { pattern: 'http.sslverify', ...redirect('any server may pass for the right one') },
  { pattern: 'http.*.sslverify', ...redirect('any server may pass for the right one') },
  { pattern: 'url.*.insteadof', ...redirect('addresses are replaced by it') },
  { pattern: 'url.*.pushinsteadof', ...redirect('addresses are replaced by it') },
  { pattern: 'protocol.allow', ...redirect('transports that execute programs are allowed') },
  { pattern: 'protocol.*.allow', ...redirect('transports that execute programs are allowed') },
  { pattern: 'submodule.*.update', ...program('submodule update executes it', 'name') },
  { pattern: 'imap.tunnel', ...program('imap-send executes it') },
  { pattern: 'instaweb.httpd', ...program('instaweb executes it') },
  { pattern: 'sendemail.smtpserver', ...program('send-email executes it if it is a path') },
  { pattern: 'sendemail.*.smtpserver', ...program('send-email executes it if it is a path') },
  { pattern: 'lfs.url', ...redirect('large files come from there') },
  { pattern: 'lfs.standalonetransferagent', ...program('git lfs executes it') },
  { pattern: 'lfs.customtransfer.*.path', ...program('git lfs executes it') },
  { pattern: 'lfs.extension.*.clean', ...program('git lfs executes it') },
  { pattern: 'lfs.extension.*.smudge', ...program('git lfs executes it') },
];

/** A key of git's future, or of a tool beside it, that is called like those that execute. */
const LIKE_A_PROGRAM = /(?:command|cmd|program|hook|helper|editor|askpass|textconv)$/;
const BOOLEAN = /^(?:|true|false|yes|no|on|off|-?[0-9]+)$/i;

/** What an entry can do. */
export interface KeyPower {
  readonly power: KeyRow['power'];
  readonly why: string;
}

const BY_NAME = new Map(ROWS.map((row) => [row.pattern, row]));

/** Undefined for a key that neither executes nor redirects. */
export function powerOf(entry: ConfigEntry): KeyPower | undefined {
  const row = rowOf(entry);
  if (row !== undefined) return isHarmless(row.harmless ?? 'never', entry) ? undefined : row;
  if (!LIKE_A_PROGRAM.test(entry.key) || isHarmless('boolean', entry)) return undefined;
  return { power: 'git-program', why: 'a program of git or beside it may execute it' };
}

function rowOf({ section, subsection, key }: ConfigEntry): KeyRow | undefined {
  const names =
    subsection === undefined
      ? [`${section}.${key}`, `${section}.*`]
      : [`${section}.*.${key}`, `${section}.*.*`, ...nested(section, subsection, key)];
  for (const name of names) {
    const row = BY_NAME.get(name);
    if (row !== undefined) return row;
  }
  return undefined;
}

/** Git LFS writes subsections with a fixed first part: `lfs.extension.NAME.clean`. */
function nested(section: string, subsection: string, key: string): readonly string[] {
  const dot = subsection.indexOf('.');
  return dot === -1 ? [] : [`${section}.${subsection.slice(0, dot).toLowerCase()}.*.${key}`];
}

function isHarmless(when: Harmless, { value }: ConfigEntry): boolean {
  switch (when) {
    case 'never':
      return false;
    case 'boolean':
      return value === undefined || BOOLEAN.test(value);
    case 'name':
      return value?.startsWith('!') !== true;
  }
}
