import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProbeScene } from '../../../src/backend/probe-scene.js';
import { SandboxUnavailableError } from '../../../src/errors/sandbox-error.js';

const EYES = { attributes: () => ({}) };

it('where nothing can be made says which directory that is, why, and what to set', () => {
  const parent = mkdtempSync(join(tmpdir(), 'scene-'));
  try {
    new ProbeScene(parent, EYES).remove();
    expect(readdirSync(parent)).toEqual([]);
  } finally {
    rmSync(parent, { recursive: true });
  }
  for (const [object, errno] of [
    ['/proc/self', 'ENOENT'],
    [parent, 'ENOENT'],
  ] as const) {
    let caught: unknown;
    try {
      new ProbeScene(object, EYES);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(SandboxUnavailableError);
    expect(caught).toMatchObject({ code: 'SANDBOX_UNAVAILABLE', object, errno });
    expect(`${caught}`).toContain(`nothing can be made in ${object} (${errno})`);
    expect(`${caught}`).toMatch(/Set XDG_RUNTIME_DIR and TMPDIR/);
  }
});
