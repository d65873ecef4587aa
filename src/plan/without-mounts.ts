/**
 * Why a Run has no mounts of its own, and what would give it some, in words. Pure.
 * @module
 */

import { SandboxUnavailableError } from '../errors/sandbox-error.js';
import type { MountsKind } from '../schema/proofs.js';

/** `stage` and `errno` are those of the step that failed when it was tried. */
export type WithoutMounts = {
  readonly kind: 'none';
  readonly reason: 'left-out' | 'not-tried' | 'failed' | 'too-many-roots' | 'capabilities';
  readonly stage?: string;
  readonly errno?: string;
};

/** Whose mounts a Run has. */
export interface MountsInUse {
  readonly kind: MountsKind;
}

interface Words {
  readonly because: string;
  readonly remedy: string;
}

const LET_THEM =
  'let user namespaces be made here (kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0; in a container a seccomp profile that allows unshare and mount)';

/** Which step failed says more than the error: making a namespace and mounting in it are two permissions. */
function failed({ stage, errno = 'an error' }: WithoutMounts): Words {
  if (stage === 'namespaces') {
    return {
      because: `no mount namespace can be made here (${errno})`,
      remedy: LET_THEM,
    };
  }
  if (errno === 'EACCES' || errno === 'EPERM') {
    return {
      because: `user namespaces can be made but not mounted in here (${errno}): AppArmor or another security module refuses it`,
      remedy:
        'give cordon-exec an AppArmor profile with the rule "userns,", or set kernel.apparmor_restrict_unprivileged_userns=0',
    };
  }
  return {
    because: `mounts of a run's own failed here (${stage ?? 'launch'}: ${errno})`,
    remedy: 'run `cordon doctor`',
  };
}

const OTHERWISE: Readonly<Record<Exclude<WithoutMounts['reason'], 'failed'>, Words>> = {
  'left-out': {
    because: 'the policy leaves mounts of its own out',
    remedy: 'leave --namespaces never out',
  },
  'not-tried': { because: 'mounts of its own were not tried here', remedy: 'run `cordon doctor`' },
  'too-many-roots': {
    because: 'there are more writable roots than can be mounted',
    remedy: 'name a directory that holds them',
  },
  capabilities: {
    because:
      "root may mount only in a user namespace here, where it could not write the workspace's foreign owner's files",
    remedy: 'run as the owner of the workspace',
  },
};

/** Follows a gap, or stands alone. */
export function withoutMountsWords(without: WithoutMounts): Words {
  return without.reason === 'failed' ? failed(without) : OTHERWISE[without.reason];
}

/** A policy that requires them is refused. */
export function mountsRequired(without: WithoutMounts): SandboxUnavailableError {
  const { because, remedy } = withoutMountsWords(without);
  return new SandboxUnavailableError({
    object: 'mounts',
    ...(without.errno !== undefined && { errno: without.errno }),
    details: {
      required: "mounts of the run's own (--namespaces require)",
      probed: [{ mechanism: 'mounts', found: false, error: because }],
      advice: `To start without them: --namespaces auto. To have them: ${remedy}.`,
    },
  });
}
