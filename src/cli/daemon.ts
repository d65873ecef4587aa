/**
 * The daemon as the command line meets it: at the operator's socket, for it is a person who types.
 * @module
 */

import type { Client } from '../client/client.js';
import { connect } from '../client/connect.js';

interface DaemonChoice {
  readonly socket?: string | undefined;
}

/** Calls with a connection, and ends it. Throws what `connect` does, and what `act` does. */
export async function withDaemon<Value>(
  { socket }: DaemonChoice,
  act: (client: Client) => Promise<Value>,
): Promise<Value> {
  const client = await connect({ socket, operator: true, name: 'cordon command line' });
  try {
    return await act(client);
  } finally {
    await client.close();
  }
}
