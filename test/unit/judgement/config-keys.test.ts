import { describe, expect, it } from 'vitest';
import { powerOf } from '../../../src/judgement/config-keys.js';
import { readConfig } from '../../../src/judgement/git-config.js';

/** The power of the first entry of a file. */
function power(text: string): string | undefined {
  const [entry] = readConfig(text).entries;
  if (entry === undefined) throw new Error(`no entry in ${text}`);
  return powerOf(entry)?.power;
}

describe('executes', () => {
  it.each([
    '[core] fsmonitor = /x',
    '[CORE] FSMonitor = ./x',
    '[core] sshCommand = x',
    '[core] pager = x',
    '[core] editor = x',
    '[alias] x = !id',
    '[alias "x"] command = !id',
    '[pager] log = ./x',
    '[filter "LFS"] clean = x',
    '[filter.lfs] smudge = x',
    '[diff "exif"] textconv = x',
    '[diff] external = x',
    '[merge "m"] driver = x %O',
    '[credential] helper = !x',
    '[credential "https://h"] helper = x',
    '[gpg "ssh"] program = x',
    '[remote "origin"] uploadpack = x',
    '[submodule "s"] update = !x',
    '[lfs "extension.a"] clean = x',
    '[hook "h"] command = x',
    '[tool-of-tomorrow "t"] someCommand = x',
  ])('%s', (text) => expect(power(text)).toBe('git-program'));
});

describe('redirects', () => {
  it.each([
    '[core] hooksPath = .',
    '[core] worktree = /',
    '[include] path = x',
    '[includeIf "gitdir:/"] path = x',
    '[url "ext::sh"] insteadOf = https://',
    '[protocol "ext"] allow = always',
    '[extensions] worktreeConfig = true',
    '[remote "o"] proxy = http://x',
    '[http "https://h"] sslVerify = false',
  ])('%s', (text) => expect(power(text)).toBe('git-redirect'));
});

describe('does neither', () => {
  it.each([
    '[core] repositoryformatversion = 0',
    '[core] bare = false',
    '[core] fsmonitor = true',
    '[core] fsmonitor',
    '[pager] log = false',
    '[submodule "s"] update = merge',
    '[submodule "s"] url = https://h/s',
    '[remote "origin"] url = https://h/r',
    '[remote "origin"] fetch = +refs/heads/*:refs/remotes/origin/*',
    '[branch "main"] merge = refs/heads/main',
    '[user] email = a@b',
    '[advice] ignoredHook = false',
  ])('%s', (text) => expect(power(text)).toBeUndefined());
});
