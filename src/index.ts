/**
 * Cordon's library: confine child processes in what they may do to the file system, and report what was enforced.
 * @module
 */

export { check } from './check/check.js';
export type { Client, JobEnd } from './client/client.js';
export type { ClientRun, ClientStarted } from './client/client-run.js';
export type { ConnectOptions } from './client/connect.js';
export { connect } from './client/connect.js';
export type { ClientOptions, Wanted } from './client/options.js';
export type { ErrorCode, ErrorRow } from './errors/codes.js';
export { ERROR_CODES } from './errors/codes.js';
export type { ErrorDetails, Probed, UnmetGuarantee } from './errors/details.js';
export { SandboxError, SandboxUnavailableError } from './errors/sandbox-error.js';
export type {
  ConfineStarted,
  DaemonStatus,
  InitializeResult,
  JobReadParams,
  JobReadResult,
  JobView,
  PrincipalView,
  RunEnded,
  SessionView,
} from './rpc/protocol.js';
export { confine } from './run/confine.js';
export { explain } from './run/explain.js';
export type { Inspection } from './run/inspect.js';
export { inspect, resolvePolicy } from './run/inspect.js';
export type { Prepared, PrepareOptions } from './run/prepare.js';
export { prepare } from './run/prepare.js';
export { prove } from './run/prove.js';
export type { Started } from './run/run.js';
export { Run } from './run/run.js';
export type {
  CheckBasis,
  CheckFinding,
  CheckNearMiss,
  CheckOptions,
  CheckPart,
  CheckPlace,
  CheckRequest,
  CheckResult,
  ClassicCheck,
  Matcher,
  MatcherCall,
  RuleContextInput,
  RuleInput,
} from './schema/check.js';
export type { CommandClass, Verdict } from './schema/command-class.js';
export type { Enforcement, GuaranteeReport } from './schema/enforcement.js';
export type { Explanation, ExplanationRule, Operation } from './schema/explanation.js';
export type { Finding, Power } from './schema/finding.js';
export type {
  ConfineOptions,
  FieldOrigins,
  InspectParams,
  Problem,
  StdioEntry,
  StdioOption,
} from './schema/params.js';
export type { Origin, Policy, PolicyParams, Root, Sourced } from './schema/policy.js';
export type { Effect } from './schema/proofs.js';
export type {
  Attempt,
  ClaimProof,
  ClaimVerdict,
  Happening,
  Proving,
  RootProof,
  RootVerdict,
} from './schema/proving.js';
export type {
  Denial,
  Outcome,
  RunResult,
  SignalName,
  StageName,
  Survivor,
} from './schema/result.js';
export type { PermissionRule, RuleParams } from './schema/rule.js';
export type {
  BackendName,
  Guarantee,
  GuaranteeStatus,
  Level,
  Mechanism,
  Mode,
  Promised,
  PtyChoice,
  Requirement,
  RootCapabilitiesChoice,
  RuleDefault,
  RuleSetName,
  SharedMemoryChoice,
  SocketsChoice,
  TempChoice,
} from './schema/vocabulary.js';
