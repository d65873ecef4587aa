import { readFileSync, mkdtempSync } from 'node:fs';
import { test } from 'vitest';
import { check } from '../../src/index.js';
test('x', () => {
  const cases = JSON.parse(readFileSync('test/corpus/classic-bash-rules.json','utf8'));
  const dir = mkdtempSync('/tmp/wR-scratch/ws-');
  for (const c of cases) {
    const r = check({command: c.command}, {mode:'workspace-write', workspace: dir, cwd: dir, askWrites: true, env:{HOME:'/home/me'}});
    if (r.verdict.toUpperCase() !== c.betterVerdict) console.log(c.id, JSON.stringify(c.command), c.betterVerdict, '->', r.verdict, r.class, '|', r.reason, '|', r.token?.text);
  }
});
