/**
 * "Did you mean": the known word nearest to a mistyped one.
 * @module
 */

/** Longer words are not compared: nobody mistypes them, and the cost is quadratic. */
const MAX_COMPARED_LENGTH = 64;

/** The nearest candidate, or undefined when none is near enough to be a slip of the hand. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > MAX_COMPARED_LENGTH) return undefined;
  const plain = fold(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(plain, fold(candidate));
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** `--allow-write`, `allow_write` and `allowWrite` are one word to a person. */
function fold(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '');
}

/** Insertions, deletions, substitutions, and neighbours in the wrong order, each one slip. */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (isSame ? 0 : 1),
        isSwapped && row > 1 ? at(beforePrevious, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, right.length);
}

function at(distances: readonly number[], index: number): number {
  return distances[index] ?? Number.POSITIVE_INFINITY;
}
