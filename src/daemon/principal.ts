/**
 * Who is at the other end of a connection, and whether it may be there: authority is which socket was connected to, and marks only refuse.
 * @module
 */

import { readFileSync } from 'node:fs';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding, Marks, SocketPeer } from '../native/binding.js';
import type { PrincipalKind, PrincipalView } from '../rpc/protocol.js';

/** What the daemon is, for comparison. */
export interface Self {
  readonly uid: number;
  readonly pid: number;
  readonly marks: Marks;
}

/** A peer and what it is refused with, if it is. */
export interface Admission {
  readonly principal: PrincipalView;
  readonly refusal?: SandboxError;
}

/** What stands beneath every run, confined or not. */
const SUPERVISOR = 'cordon-exec';

/** Looks at whoever connected to the socket. Throws what asking the kernel about the descriptor does. */
export function admit(
  fd: number,
  { kind, self, binding }: { kind: PrincipalKind; self: Self; binding: Pick<Binding, 'peer'> },
): Admission {
  const peer = binding.peer(fd);
  const principal = { kind, uid: peer.uid, pid: peer.pid };
  const refusal = objection(peer, self, nameOf);
  return refusal === undefined ? { principal } : { principal, refusal };
}

/** Why a peer is not answered. `nameOf` gives the name of a process, undefined for one that is gone. Pure but for that. */
export function objection(
  peer: SocketPeer,
  self: Self,
  name: (pid: number) => string | undefined,
): SandboxError | undefined {
  if (peer.uid !== self.uid) {
    const reason = `it belongs to uid ${peer.uid}, the daemon to ${self.uid}`;
    return new SandboxError({ code: 'NOT_PERMITTED', object: 'the daemon', details: { reason } });
  }
  const reason = confinement(peer, self, name);
  if (reason === undefined) return undefined;
  return new SandboxError({ code: 'PEER_CONFINED', details: { reason } });
}

type Mark = (peer: SocketPeer, self: Self) => string | false;

/** In the order they are looked at: each is a reason of its own. */
const MARKS: readonly Mark[] = [
  (peer) => peer.isRead !== true && 'it cannot be looked at, or is gone',
  (peer, { marks }) =>
    peer.noNewPrivs === true &&
    !marks.noNewPrivs &&
    'it can gain no privileges, which the daemon can',
  (peer, { marks }) =>
    (peer.filters ?? 0) > marks.filters &&
    "more of its system calls are filtered than the daemon's",
  (peer, { marks }) => {
    const other = foreignNamespace(peer, marks);
    return other !== undefined && `it is in another ${other} namespace`;
  },
  (peer, { pid }) => (peer.ancestors ?? []).includes(pid) && 'it was started by the daemon',
];

function confinement(
  peer: SocketPeer,
  self: Self,
  name: (pid: number) => string | undefined,
): string | undefined {
  for (const mark of MARKS) {
    const reason = mark(peer, self);
    if (reason !== false) return reason;
  }
  const supervisor = peer.ancestors?.find((pid) => name(pid) === SUPERVISOR);
  return supervisor === undefined ? undefined : `process ${supervisor} above it supervises a run`;
}

function foreignNamespace(peer: SocketPeer, marks: Marks): string | undefined {
  const { namespaces } = peer;
  if (namespaces === undefined) return 'unknown';
  const kinds = ['user', 'mnt', 'pid', 'ipc'] as const;
  return kinds.find((kind) => namespaces[kind] !== marks.namespaces[kind]);
}

function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd();
  } catch {
    return undefined;
  }
}
