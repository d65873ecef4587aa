/**
 * The one backend of this operating system.
 * @module
 */

import { loadNative } from '../native/load.js';
import type { Backend } from './backend.js';
import { LinuxBackend } from './linux.js';
import { platformUnsupported } from './unavailable.js';

let selected: Backend | undefined;

/** The backend of this thread. Throws `SANDBOX_UNAVAILABLE` where there is none, or its native part does not load. */
export function selectBackend(): Backend {
  if (selected !== undefined) return selected;
  if (process.platform !== 'linux') throw platformUnsupported(process.platform);
  selected = new LinuxBackend(loadNative());
  return selected;
}
