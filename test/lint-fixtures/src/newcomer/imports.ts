// planted: lint/style/noRestrictedImports
import { launch } from '../backend/launch.js';

export const all = [launch];
