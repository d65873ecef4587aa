import { meet } from '../policy/meet.js';
// planted: lint/style/noRestrictedImports
import { load } from '../native/load.js';
// planted: lint/style/noRestrictedImports
import { kernelFacts } from '../facts/kernel.js';

export const all = [meet, load, kernelFacts];
