import { describe, expect, it } from 'vitest';
import { SHELL_PROGRAMS } from '../../../../src/classify/programs/shells.js';
import { STARTER_PROGRAMS } from '../../../../src/classify/programs/starters.js';
import { effectsOf, judged } from '../../../support/judged.js';
import { known, open } from '../../../support/tokens.js';

const starts = (line: string) => effectsOf(judged(STARTER_PROGRAMS, line));

describe('the program that is started', () => {
  it.each([
    ['env ls -l', ['run ls -l']],
    ['env LC_ALL=C TZ=UTC sort a', ['run sort a']],
    ['env -- ls', ['run ls']],
    ['nice -n 5 ls', ['run ls']],
    ['nice -5 ls', ['run ls']],
    ['ionice -c3 ls', ['run ls']],
    ['timeout 5 ls -l', ['run ls -l']],
    ['timeout -k 3 --signal=KILL 5s ls', ['run ls']],
    ['stdbuf -oL grep x', ['run grep x']],
    ['time -p ls', ['run ls']],
    ['time -o out ls', ['write out', 'run ls']],
    ['taskset -c 0 ls', ['run ls']],
    ['chrt -i 0 ls', ['run ls']],
    ['flock lock ls', ['write lock', 'run ls']],
    ['command ls', ['run ls']],
    ['command -p ls', ['run ls']],
    ['builtin eval x', ['run eval x']],
    ['exec ls', ['run ls']],
    ['exec', []],
    ['watch -n 1 ls -l', ['shell ls -l']],
    ['watch -x ls -l', ['run ls -l']],
    ['xargs', []],
    ['xargs -0 -n1 -P4 echo', ['run echo']],
    ['xargs -r wc -l', ['run wc -l']],
    ['xargs -a list.txt rm', ['read list.txt', 'run rm']],
    ['xargs -I{} touch {}.new', ['run touch ?']],
    ['xargs -I % sh -c %', ['run sh -c ?']],
    ['xargs -i mv {} x', ['run mv ? x']],
    ['xargs -l wc', ['run wc']],
    // The later of options that exclude each other wins: the words are replaced, or added.
    ['xargs -I% -n2 find x', ['run ? ?']],
    ['xargs -I% -L1 find x', ['run ? ?']],
    ['xargs -i -l find x', ['run ? ?']],
    ['xargs -I a -I b find a', ['run ? ?']],
  ])('%s', (line, effects) => expect(starts(line)).toEqual(effects));

  it.each([
    'nohup ls',
    'setsid -w ls',
    'chroot / ls',
    'unshare -r ls',
    'nsenter -t 1 -m ls',
    'strace ls',
    'busybox ls',
    'parallel ls',
    'env -i ls',
    'env -u HOME ls',
    'env PATH=. ls',
    'env LD_PRELOAD=./x.so ls',
    'env -S ls',
    'env --unheard-of ls',
    'nice --unheard-of ls',
  ])('%s: nor is what starts it known', (line) => {
    expect(starts(line)).toContain('unknown');
    expect(starts(line)).toContain('run ls');
  });

  it.each([
    "env -S 'l\\s'",
    'taskset -p 1',
    'taskset ls',
    'chrt -b ls -l',
    'timeout ls',
    'ionice -p 1',
    'script out',
    'script -c ls out',
    'flock 9',
    'chroot /',
    'xargs --process-slot-var=LD_PRELOAD ls',
    'xargs --unheard-of ls',
  ])('%s: is not known', (line) => expect(starts(line)).toContain('unknown'));

  it('is nothing where it is only looked up', () => {
    expect(starts('command -v node')).toEqual([]);
    expect(starts('command -V node ls')).toEqual([]);
    expect(starts('command -pv node')).toEqual([]);
  });
  it('is given more words', () => {
    expect(judged(STARTER_PROGRAMS, 'xargs wc').effects).toMatchObject([{ more: true }]);
  });
  it('runs where it is told', () => {
    expect(judged(STARTER_PROGRAMS, 'env -C sub ls').effects).toMatchObject([{ cwd: 'sub' }]);
  });
  it('is not the one of the rules where a setting changes it', () => {
    expect(judged(STARTER_PROGRAMS, 'env LD_PRELOAD=x ls').faithful).toBe(false);
    expect(judged(STARTER_PROGRAMS, 'env LC_ALL=C ls').faithful).toBeUndefined();
  });
  it('may be another one where the word before it is open', () => {
    const effects = effectsOf(judged(STARTER_PROGRAMS, 'timeout', [open('5', true), known('ls')]));
    expect(effects).toContain('unknown');
  });
});

describe('the environment', () => {
  it.each([
    ['env', ['secret-like']],
    ['env -0', ['secret-like']],
    ['env LC_ALL=C', ['secret-like']],
    ['env --version', []],
    ['printenv', ['secret-like']],
    ['printenv PATH HOME', []],
    ['printenv AWS_SECRET_ACCESS_KEY', ['secret-like']],
    ['printenv --version', []],
  ])('%s', (line, effects) => expect(starts(line)).toEqual(effects));
  it('is not printed by a name that is not known', () => {
    expect(effectsOf(judged(STARTER_PROGRAMS, 'printenv', [open('X')]))).toEqual(['secret-like']);
  });
});

describe('shells', () => {
  const shell = (line: string, ...text: readonly string[]) =>
    effectsOf(judged(SHELL_PROGRAMS, line, text.map(known)));

  it('read the text that is given', () => {
    expect(shell('bash -c', 'ls | wc')).toEqual(['shell ls | wc']);
    expect(shell('bash -euo pipefail -c', 'ls')).toEqual(['shell ls']);
    expect(shell('bash -xc', 'ls')).toEqual(['shell ls']);
    expect(shell('bash --norc -c', 'ls')).toEqual(['shell ls']);
    expect(shell('sh -ec', 'ls')).toEqual(['shell ls']);
  });
  it('read it as POSIX says, but for bash', () => {
    expect(judged(SHELL_PROGRAMS, 'sh -c ls').effects).toMatchObject([{ posix: true }]);
    expect(judged(SHELL_PROGRAMS, 'dash -c ls').effects).toMatchObject([{ posix: true }]);
    expect(judged(SHELL_PROGRAMS, 'bash -c ls').effects[0]).not.toHaveProperty('posix');
  });
  it.each([
    'bash -lc ls',
    'bash -ic ls',
    'bash --rcfile x -c ls',
    'bash -O extglob -c ls',
    'bash -o posix -c ls',
    'bash -s',
    'bash',
    'bash x.sh',
    'bash -c',
    'bash -c +x ls',
    'bash -c - ls',
    'bash -n +n x.sh',
    'sh x.sh',
    'zsh -c ls',
    'fish -c ls',
  ])('%s: is not known', (line) => {
    expect(effectsOf(judged(SHELL_PROGRAMS, line))).toContain('unknown');
  });
  it('only parse with -n', () => {
    expect(shell('bash -n x.sh')).toEqual(['read x.sh']);
  });
  it('do nothing that is known with a text that is open', () => {
    const effects = effectsOf(judged(SHELL_PROGRAMS, 'bash -c', [open('ls ')]));
    expect(effects).toEqual(['unknown']);
  });
});
