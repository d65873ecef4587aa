/**
 * The daemon as a process: in the foreground, told what to do by signals, its own log on stderr.
 * @module
 */

import { homedir } from 'node:os';
import { destination, pino } from 'pino';
import { loadNative } from '../native/load.js';
import { packageVersion } from '../platform/package.js';
import { daemonSockets } from '../rpc/places.js';
import { Daemon } from './life.js';
import { inheritedSockets } from './listen.js';
import { announcer } from './readiness.js';
import { startRuns } from './start-runs.js';

export interface DaemonOptions {
  /** Absolute path of the clients' socket; the others lie beside it. */
  readonly socket?: string | undefined;
}

const STDERR = 2;
const STOPPING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/** Runs a daemon until it is told to stop. Rejects when it cannot begin. */
export async function runDaemon({ socket }: DaemonOptions): Promise<void> {
  const { env, pid } = process;
  const uid = process.geteuid?.() ?? 0;
  const { binding } = loadNative();
  const logger = pino({ base: { pid } }, destination({ fd: STDERR, sync: true }));
  const log = (words: string, error?: unknown): void => {
    if (error === undefined) logger.info(words);
    else logger.error({ err: error }, words);
  };
  const sockets = daemonSockets({ env, uid, home: homedir() }, socket);
  const { directory } = sockets;
  const inherited = inheritedSockets(env, { pid, binding });
  const announce = announcer(env, binding);
  const daemon = await Daemon.start({
    ...{ binding, uid, pid, sockets, inherited, announce, log },
    version: packageVersion(),
    startRuns: (attach) => startRuns({ binding, uid, env, directory, log, attach }),
  });
  logger.info({ socket: sockets.client }, 'listening');
  await told(daemon, log);
  logger.info('stopped');
}

/** Resolves when a signal has ended it. */
function told(daemon: Daemon, log: (words: string, error?: unknown) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let isStopping = false;
    const onStop = (signal: NodeJS.Signals): void => {
      log(isStopping ? `${signal}: killing what runs` : `${signal}: stopping`);
      if (isStopping) daemon.kill();
      isStopping = true;
      daemon.stop().then(resolve, reject);
    };
    for (const signal of STOPPING) process.on(signal, onStop);
    process.on('SIGHUP', () => {
      daemon.reload().then(
        () => log('SIGHUP: reloaded'),
        (error: unknown) => log('SIGHUP: everything stays as it was', error),
      );
    });
  });
}
