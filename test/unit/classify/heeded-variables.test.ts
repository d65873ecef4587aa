import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/classify/classify.js';

const SURROUNDINGS = { cwd: '/work', workspace: '/work', writable: [], home: '/home/user' };

describe('a variable that programs heed is no read when it is changed by', () => {
  it.each([
    '((GIT_OPTIONAL_LOCKS=1)); git status',
    '((GIT_OPTIONAL_LOCKS++)); git status',
    ': $((GIT_OPTIONAL_LOCKS=1)); git status',
    'let GIT_OPTIONAL_LOCKS=1; git status',
    'let ++GIT_OPTIONAL_LOCKS; git status',
    ': ${GIT_CONFIG_GLOBAL:=x}; git status',
    'for GIT_OPTIONAL_LOCKS in 1; do git status; done',
    'for PATH in .; do cat notes; done',
    'select GIT_OPTIONAL_LOCKS in 1; do git status; done <names',
    'exec {GIT_OPTIONAL_LOCKS}<names; git status',
    'git status {GIT_OPTIONAL_LOCKS}<names',
    'declare +x GIT_OPTIONAL_LOCKS; git status',
    'typeset +x GIT_CONFIG_COUNT; git diff',
    'exec -c git status',
    'exec -cl git status',
  ])('%s', (command) => {
    expect(classify(command, SURROUNDINGS).readOnly).toBe(false);
  });

  it.each([
    '((n=1)); git status',
    'let n=1; git status',
    'for name in a b; do cat $name; done',
    'cat notes {fd}<names',
    'declare -a n; git status',
    'exec -l git status',
  ])('and another one is: %s', (command) => {
    expect(classify(command, SURROUNDINGS).readOnly).toBe(true);
  });
});
