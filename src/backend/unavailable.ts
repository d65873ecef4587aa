/**
 * Why nothing can be confined on this machine, in terms of what its owner can change.
 * @module
 */

import { errnoOf } from '../errors/errno.js';
import { SandboxUnavailableError } from '../errors/sandbox-error.js';

/** The error of a kernel whose Landlock did not let a throw-away child start. `error` says how far it got, `at` at which step. */
export function probeFailed(
  error: string,
  cause?: unknown,
  at: { readonly stage?: string; readonly errno?: string } = {},
): SandboxUnavailableError {
  return new SandboxUnavailableError({
    object: 'landlock',
    cause,
    ...at,
    details: {
      probed: [{ mechanism: 'landlock', found: false, error }],
      advice: 'Run `cordon doctor` for what this kernel has.',
    },
  });
}

/** The error of a directory in which nothing can be made: a container's read-only root, a full disk. */
export function noPlaceIn(parent: string, cause: unknown): SandboxUnavailableError {
  const errno = errnoOf(cause);
  const because = errno === undefined ? '' : ` (${errno})`;
  return new SandboxUnavailableError({
    object: parent,
    cause,
    ...(errno !== undefined && { errno }),
    details: {
      probed: [
        { mechanism: 'probe', found: false, error: `nothing can be made in ${parent}${because}` },
      ],
      advice:
        'Set XDG_RUNTIME_DIR and TMPDIR to directories of your own that can be written, outside of the workspace.',
    },
  });
}

/** The error of a policy that leaves nowhere to try what it forbids. */
export function noPlaceOutside(): SandboxUnavailableError {
  return new SandboxUnavailableError({
    object: 'a directory outside every writable root',
    details: {
      probed: [
        {
          mechanism: 'probe',
          found: false,
          error: 'no directory outside every writable root can be written',
        },
      ],
      advice:
        'Set XDG_RUNTIME_DIR or TMPDIR to a directory of your own that the policy does not make writable.',
    },
  });
}

/** The error of a filter whose questions an outer sandbox already gets. */
export function listenerTaken(): SandboxUnavailableError {
  return new SandboxUnavailableError({
    object: 'seccomp',
    errno: 'EBUSY',
    details: { probed: [{ mechanism: 'broker', found: false, error: 'EBUSY' }], listener: false },
  });
}

/** The error of an operating system without a backend. */
export function platformUnsupported(platform: string): SandboxUnavailableError {
  return new SandboxUnavailableError({
    object: platform,
    details: {
      probed: [{ mechanism: 'landlock', found: false, error: `not a facility of ${platform}` }],
      advice: 'Run it on Linux.',
    },
  });
}
