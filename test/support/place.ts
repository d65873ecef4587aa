/**
 * A place to classify command lines in: a workspace in a home, nothing known of the file system.
 * @module
 */

import type { Surroundings } from '../../src/classify/part.js';

export const PLACE: Surroundings = {
  cwd: '/home/u/project',
  workspace: '/home/u/project',
  writable: [],
  home: '/home/u',
};
