/**
 * `npm run bench:rules`: what a verdict costs of a command line that was parsed and classified: held against no rules, and
 * against ten thousand of several kinds. Medians. Nothing here gates a test.
 * @module
 */

import { classify } from '../../dist/classify/classify.js';
import { judgeCommand } from '../../dist/rules/command.js';
import { ruleSet } from '../../dist/rules/rule-set.js';

const COUNT = 10_000;
const ROUNDS = 300;

const PLACE = { cwd: '/work', workspace: '/work', writable: [], home: '/home/me' };

const LINES = {
  'git log': 'git log --oneline -5',
  'git push': 'git push origin main',
  pipeline: 'git status --short && rg -n needle src | sort | head -20',
  'unknown words': 'git "$x" origin',
  'unknown program': '"$x" push origin',
};

/** Patterns by the number of the rule. */
const KINDS = {
  none: undefined,
  'of other programs': (index) => `tool${index} *`,
  'of other subcommands': (index) => `git sub${index} *`,
  'for any program': (index) => `* --option${index} *`,
  'with globs': (index) => `git push origin${index}*`,
};

function rules(pattern) {
  if (pattern === undefined) return [];
  return Array.from({ length: COUNT }, (_, index) => ({
    id: `r${index}`,
    tool: 'bash',
    behavior: index % 2 === 0 ? 'deny' : 'allow',
    pattern: pattern(index),
    priority: index % 5,
    source: 'bench',
  }));
}

function median(act) {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint();
    act();
    times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  return times.sort((left, right) => left - right)[ROUNDS / 2];
}

const knobs = { mode: 'workspace-write', askWrites: false, unknown: 'ask' };
const cell = (text) => String(text).padStart(16);

console.log(`microseconds, median of ${ROUNDS}`);
console.log(`${'rules'.padEnd(22)}${Object.keys(LINES).map(cell).join('')}`);
console.log(
  `${'(classify alone)'.padEnd(22)}${Object.values(LINES)
    .map((line) => cell(median(() => classify(line, PLACE)).toFixed(0)))
    .join('')}`,
);
for (const [name, pattern] of Object.entries(KINDS)) {
  const set = ruleSet(rules(pattern));
  const request = { tool: 'bash', rules: set, knobs, program: undefined, startsElsewhere: false };
  const cells = Object.values(LINES).map((line) => {
    const classification = classify(line, PLACE);
    return cell(median(() => judgeCommand(classification, request)).toFixed(0));
  });
  console.log(`${name.padEnd(22)}${cells.join('')}`);
}
