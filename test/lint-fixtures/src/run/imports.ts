import { launch } from '../backend/launch.js';
// planted: lint/style/noRestrictedImports
import { diagnose } from '../doctor/diagnose.js';
// planted: lint/style/noRestrictedImports
import { program } from '../cli/program.js';
// planted: lint/style/noRestrictedImports
import { execa } from 'execa';

export const all = [launch, diagnose, program, execa];
