/**
 * Every run of the daemon: how one is started, found again, and remembered for a while after its end.
 * @module
 */

import { statSync } from 'node:fs';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding } from '../native/binding.js';
import { buildEnvironment } from '../platform/environment.js';
import { randomBytes } from '../platform/random.js';
import type { Call, Caller } from '../rpc/method.js';
import type { ConfineParams, ConfineStarted, JobView } from '../rpc/protocol.js';
import { NOTIFICATIONS } from '../rpc/protocol.js';
import type { Candidate } from '../run/launching.js';
import { startRun } from '../run/start.js';
import { LIMITS } from '../schema/limits.js';
import type { ConfineOptions, StdioOption } from '../schema/params.js';
import type { Peer, SessionId } from '../schema/session.js';
import type { Client } from './clients.js';
import { Clients, sees, sessionOf } from './clients.js';
