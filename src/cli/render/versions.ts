/**
 * Versions as text, a part a line.
 * @module
 */

import type { NativePart, Versions } from '../../doctor/versions.js';
import { visible } from '../../errors/visible.js';
import type { Cell, Sheet } from './text.js';
import { columns } from './text.js';

/** Enough digits to tell two builds apart. */
const DIGEST_DIGITS = 12;

function partText(part: NativePart | null): string {
  if (part === null) return 'not available';
  return `${part.sha256.slice(0, DIGEST_DIGITS)} ${visible(part.path)}`;
}

function abiText(abi: number | null): string {
  if (abi === null) return 'unknown';
  return abi === 0 ? 'none' : `ABI ${abi}`;
}

export function versionsText(sheet: Sheet, versions: Versions): string[] {
  const rows: Cell[][] = [
    [{ text: 'cordon' }, { text: versions.version }],
    [{ text: 'node' }, { text: versions.node }],
    [{ text: 'addon' }, { text: partText(versions.addon) }],
    [{ text: 'helper' }, { text: partText(versions.helper) }],
    [{ text: 'kernel' }, { text: versions.kernel }],
    [{ text: 'landlock' }, { text: abiText(versions.landlockAbi) }],
  ];
  const lines = columns(sheet, rows);
  if (versions.unavailable !== undefined) lines.push(visible(versions.unavailable));
  return lines;
}
