import type { Policy } from '../schema/policy.js';
// planted: lint/style/noRestrictedImports
import { resolve } from '../policy/resolve.js';

export const all: readonly [typeof resolve, Policy?] = [resolve];
