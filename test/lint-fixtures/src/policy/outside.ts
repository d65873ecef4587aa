/** Each line after a `planted` comment breaks the rule that the comment names. */
// planted: lint/style/noRestrictedImports
import { readFileSync } from 'node:fs';
// planted: lint/style/noRestrictedImports, lint/style/useNodejsImportProtocol
import { readFile } from 'fs/promises';
// planted: lint/style/noRestrictedImports
import { spawn } from 'node:child_process';
// planted: lint/style/noRestrictedImports
import { setTimeout as delay } from 'node:timers/promises';
// planted: lint/style/noRestrictedImports
import { connect } from 'node:net';
// planted: lint/style/noRestrictedImports
import { env } from 'node:process';
// planted: lint/style/noRestrictedImports
import { z } from 'zod';
import { join } from 'node:path';
// planted: lint/style/noRestrictedImports
import { launch } from '../backend/launch.js';
// planted: lint/style/noRestrictedImports
import type { Plan } from '../plan/plan.js';
// planted: lint/style/noRestrictedImports
import { confine } from './../run/confine.js';
import type { Policy } from '../schema/policy.js';
// planted: lint/style/noRestrictedImports, lint/performance/noBarrelFile
export { probe } from '../backend/probe.js';

// planted: lint/style/noRestrictedImports
export const late = () => import('../run/confine.js');

export const all = [readFileSync, readFile, spawn, delay, connect, env, z, join, launch, confine];
export type Both = Plan | Policy;
