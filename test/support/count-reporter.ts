/**
 * Ends a test run with what was skipped and why, and one line that a program can count.
 * @module
 */

import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** File to which every runner of a CI pass appends its line; `.ci/run` adds them up. */
const COUNTS_FILE = process.env.SANDBOX_COUNTS;

export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    let passed = 0;
    // A file that cannot be loaded and a stray rejection have no test of their own, and are
    // failures all the same.
    let failed = modules.filter((module) => module.errors().length > 0).length + unhandled.length;
    const skipped: string[] = [];
    for (const test of modules.flatMap((module) => [...module.children.allTests()])) {
      const result = test.result();
      if (result.state === 'passed') passed += 1;
      else if (result.state === 'failed') failed += 1;
      else skipped.push((result.state === 'skipped' && result.note) || 'no reason given');
    }
    for (const [note, count] of countEach(skipped)) console.log(`skipped ${count}: ${note}`);
    const line = `${passed} passed, ${failed} failed, ${skipped.length} skipped`;
    console.log(line);
    if (COUNTS_FILE) appendFileSync(COUNTS_FILE, `${line}\n`);
  }
}

function countEach(notes: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const note of notes) counts.set(note, (counts.get(note) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a.localeCompare(b));
}
