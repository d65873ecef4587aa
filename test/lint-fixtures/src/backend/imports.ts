import { spawn } from 'node:child_process';
import { compile } from '../plan/linux.js';
// planted: lint/style/noRestrictedImports
import { confine } from '../run/confine.js';
// planted: lint/style/noRestrictedImports
import { main } from '../cli/main.js';
// planted: lint/style/noRestrictedImports
import { resolve } from '../policy/resolve.js';

export const all = [spawn, compile, confine, main, resolve];
