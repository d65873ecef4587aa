/**
 * What a policy says of one operation on one path, without starting anything.
 * @module
 */

import { accepted } from '../errors/sandbox-error.js';
import { findTarget } from '../facts/target.js';
import { explain as explainPolicy, followsLinks, isOfTheRun } from '../policy/explain.js';
import type { Explanation, Operation, Question } from '../schema/explanation.js';
import { parseQuestion } from '../schema/explanation.js';
import type { TargetFact } from '../schema/facts.js';
import type { InspectParams } from '../schema/params.js';
import { parseInspectParams } from '../schema/params.js';
import { lookAt } from './look.js';

/**
 * Whether a Run under this policy may do it, by which rule, and the smallest grant that would allow it. `path` need not
 * exist; `$TMPDIR/…` is the Run's own temp directory; for `signal` it is a process id. From the policy alone: what this
 * machine enforces of it, `inspect` says. Throws `SandboxError` for what `confine` would refuse.
 */
export function explain(params: InspectParams, operation: Operation, path: string): Explanation {
  const face = params?.origin === 'flag' ? 'flag' : 'option';
  const question = accepted(parseQuestion(operation, path));
  const { policy, host } = lookAt(accepted(parseInspectParams(params), face));
  return explainPolicy({ question, target: targetOf(question, params.cwd), policy, host });
}

function targetOf(question: Question, cwd = '.'): TargetFact {
  const { operation, path } = question;
  if (isOfTheRun(question)) return { asked: path, path, kind: 'file', directory: '/' };
  const base = cwd.startsWith('/') ? cwd : `${process.cwd()}/${cwd}`;
  return findTarget({ asked: path, cwd: base, follow: followsLinks(operation) });
}
