/**
 * What the service manager is told about the daemon.
 * @module
 */

import type { Binding } from '../native/binding.js';

export type Announcement = 'READY=1' | 'STOPPING=1';

/** Tells it, where there is one. Takes its variable out of `env`: it is for this process alone. */
export function announcer(
  env: NodeJS.ProcessEnv,
  binding: Pick<Binding, 'notify'>,
): (announcement: Announcement) => void {
  const path = env.NOTIFY_SOCKET;
  delete env.NOTIFY_SOCKET;
  if (path === undefined || path === '') return () => undefined;
  return (announcement) => binding.notify(path, announcement);
}
