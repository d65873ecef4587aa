import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/classify/classify.js';

const SURROUNDINGS = { cwd: '/work', workspace: '/work', writable: [], home: '/home/user' };
const classOf = (command: string) => classify(command, SURROUNDINGS).class;

describe('a device that swallows what is written', () => {
  it.each([
    'ls > /dev/null',
    'ls 2>> /dev/stderr',
    'ls | tee /dev/null',
    'dd if=notes of=/dev/null',
    'sort -o /dev/null notes',
    'sed -n "w /dev/stdout" notes',
    'find . -fprint /dev/null',
    'git log --output=/dev/null',
  ])('is written and nothing changes: %s', (command) => {
    expect(classOf(command)).toBe('read');
  });

  it.each([
    'rm /dev/null',
    'rm -rf /dev/null',
    'rmdir /dev/null',
    'unlink /dev/zero',
    'mkdir /dev/null',
    'touch /dev/null',
    'chmod 600 /dev/null',
    'chmod -R 600 /dev/null',
    'chown root /dev/tty',
    'mkfifo /dev/null',
    'mknod /dev/null p',
    'shred -u /dev/null',
    'link notes /dev/null',
    'ln -sf notes /dev/null',
    'cp -T --remove-destination notes /dev/null',
    'install -T notes /dev/null',
    'mv -T notes /dev/null',
    'find /dev/null -delete',
  ])('is itself made, removed, replaced or changed in its mode: %s', (command) => {
    expect(classOf(command)).not.toBe('read');
    expect(classify(command, SURROUNDINGS).readOnly).toBe(false);
  });
});
