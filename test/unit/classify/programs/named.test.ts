import { describe, expect, it } from 'vitest';
import { HOST_PROGRAMS } from '../../../../src/classify/programs/host.js';
import { NETWORK_PROGRAMS } from '../../../../src/classify/programs/network.js';
import { PACKAGE_PROGRAMS } from '../../../../src/classify/programs/packages.js';
import { POWERSHELL_PROGRAMS } from '../../../../src/classify/programs/powershell.js';
import { effectsOf, judged } from '../../../support/judged.js';
import { known, open } from '../../../support/tokens.js';

const PROGRAMS = {
  ...HOST_PROGRAMS,
  ...NETWORK_PROGRAMS,
  ...PACKAGE_PROGRAMS,
  ...POWERSHELL_PROGRAMS,
};
const does = (line: string) => effectsOf(judged(PROGRAMS, line));

it.each([
  ['sudo ls', 'privilege'],
  ['su -c ls', 'privilege'],
  ['pkexec id', 'privilege'],
  ['systemd-run ls', 'privilege'],
  ['systemd-run --user ls', 'unknown'],
  ['reboot', 'host-state'],
  ['mkfs.ext4 /dev/sda1', 'host-state'],
  ['mount /dev/sda1 /mnt', 'host-state'],
  ['insmod x.ko', 'host-state'],
  ['iptables -F', 'host-state'],
  ['useradd x', 'host-state'],
  ['systemctl reboot', 'host-state'],
  ['systemctl restart nginx', 'unknown'],
  ['systemctl --user enable x', 'persistence'],
  ['timedatectl set-time 00:00', 'host-state'],
  ['timedatectl', 'unknown'],
  ['crontab -e', 'persistence'],
  ['crontab x', 'persistence'],
  ['crontab', 'persistence'],
  ['crontab -l', 'outside-read'],
  ['at now', 'persistence'],
  ['chsh -s /bin/x', 'persistence'],
  ['curl https://h', 'network'],
  ['ssh h', 'network'],
  ['dig h', 'network'],
  ['gh api repos/o/r', 'network'],
  ['kubectl exec p -- ls', 'network'],
  ['docker ps', 'unknown'],
  ['docker --version ps', 'unknown'],
  ['tmux run-shell x', 'unknown'],
  ['npm ls', 'unknown'],
  ['yarn --version', 'unknown'],
  ['cargo metadata', 'unknown'],
  ['go version', 'unknown'],
  ['make', 'unknown'],
  ['make -n', 'unknown'],
  ['make --version x', 'unknown'],
  ['node --version x.js', 'unknown'],
  ['python3 -c x', 'unknown'],
  ['kill -9 1234', 'unknown'],
  ['kill 1234', 'unknown'],
  ['kill -0 -s 9 1', 'unknown'],
  ['kill -s TERM 1', 'unknown'],
  ['pkill x', 'unknown'],
])('%s: %s', (line, kind) => expect(does(line)).toEqual([kind]));

it.each([
  'make --version',
  'python3 --version',
  'node -v',
  'npm --version',
  'gcc -dumpmachine',
  'curl --version',
  'docker --version',
  'mount',
  'kill -l',
  'kill -l 9',
  'kill -0 1',
  'kill -s 0 1',
  'Get-Location',
  'Select-Object -First 3',
  'Sort-Object -Property Length -Descending',
])('%s: only prints', (line) => expect(does(line)).toEqual([]));

describe('a word that is not known', () => {
  it('may be a signal', () => {
    expect(effectsOf(judged(PROGRAMS, 'kill -0', [open('', true)]))).toEqual(['unknown']);
    const own = { ...open('', true), text: '$$' };
    expect(effectsOf(judged(PROGRAMS, 'kill -0', [own]))).toEqual([]);
  });
  it('is no form that only prints', () => {
    expect(effectsOf(judged(PROGRAMS, 'make', [open('--version')]))).toEqual(['unknown']);
  });
});

describe('cmdlets', () => {
  it('read what they are given', () => {
    expect(does('Get-ChildItem -Recurse -Path src')).toEqual(['read src']);
    expect(does('Get-Content ../x -Tail 5')).toEqual(['read ../x']);
    expect(does('Select-String -Pattern /etc/ -Path a')).toEqual(['read a']);
    expect(does('Get-ChildItem -Filter x')).toEqual([]);
  });
  it('read the names that a pattern matches', () => {
    const pattern = { ...open('', true), pattern: '*.cs' };
    expect(effectsOf(judged(PROGRAMS, 'Get-ChildItem -Path', [pattern]))).toEqual(['read ']);
  });
  it.each(['{ rm x }', '@{a=1}', '(x)', '$x'])('run the code in %s', (code) => {
    expect(effectsOf(judged(PROGRAMS, 'Where-Object', [known(code)]))).toEqual(['unknown']);
  });
});
