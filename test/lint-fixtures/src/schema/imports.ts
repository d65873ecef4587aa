import * as z from 'zod/mini';
// planted: lint/style/noRestrictedImports
import { SandboxError } from '../errors/sandbox-error.js';
// planted: lint/style/noRestrictedImports
import { z as full } from 'zod';

export const all = [z, full, SandboxError];
