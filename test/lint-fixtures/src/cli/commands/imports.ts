import { Command } from 'commander';
import { confine } from '../../index.js';
import { ERROR_CODES } from '../../errors/codes.js';
import { exitCode } from '../exit.js';
import { columns } from '../render/text.js';
// planted: lint/style/noRestrictedImports
import { load } from '../../native/load.js';
// planted: lint/style/noRestrictedImports
import { probe } from '../../backend/probe.js';

export const all = [Command, confine, ERROR_CODES, exitCode, columns, load, probe];
