/**
 * Waiting that has an end.
 * @module
 */

export interface Patience {
  readonly ms: number;
  readonly signal?: AbortSignal;
}

/** What the promise gives; undefined when that takes longer, or the signal says that nobody waits any more. */
export async function within<T>(
  promise: Promise<T>,
  { ms, signal }: Patience,
): Promise<T | undefined> {
  let giveUp: () => void = () => undefined;
  const late = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  const timer = setTimeout(giveUp, ms);
  signal?.addEventListener('abort', giveUp);
  if (signal?.aborted === true) giveUp();
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
