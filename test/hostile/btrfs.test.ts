/**
 * btrfs makes and destroys trees by ioctl, through descriptors that were opened for reading: each is shown to happen on a
 * file system of the test's own, and then refused.
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PERSONAS, type Persona } from '../support/as-user.js';
import { btrfsProgram } from '../support/build.js';
import { OWN_MOUNTS } from '../support/runner.js';
import { Stage } from '../support/stage.js';
import { differences, snapshot } from '../support/world.js';

/** The mount ends with the runner, whatever becomes of it, and the loop device with the mount. */
const onBtrfs = ({ uid, gid }: Persona): readonly string[] => [
  ...OWN_MOUNTS,
  'sh',
  '-c',
  `truncate -s 128M image && mkfs.btrfs -q image >/dev/null 2>&1 && mkdir mounted &&
   mount -o loop,user_subvol_rm_allowed image mounted && chown ${uid}:${gid} mounted && exec "$@"`,
  'sh',
];

const NO_REQUEST = /^refused ENOTTY$/;
// Read-only mounts answer before Landlock does.
const DENIED = /^refused (EACCES|EPERM|EROFS)$/;

interface Act {
  readonly name: string;
  readonly refusal: RegExp;
  readonly who?: Persona['name'];
}

const OUTSIDE: readonly Act[] = [
  ...['create', 'create-v2', 'destroy', 'destroy-v2', 'copy', 'copy-v2'].map((name) => ({
    name,
    refusal: NO_REQUEST,
  })),
  { name: 'freeze', refusal: NO_REQUEST },
  { name: 'received', refusal: NO_REQUEST },
  { name: 'label', refusal: NO_REQUEST, who: 'root' },
  // A broker says no, a filter alone that there is no such request.
  { name: 'inode-flags', refusal: /^refused (EPERM|EACCES|ENOTTY)$/ },
  { name: 'clone-out', refusal: DENIED },
  { name: 'clone-range-out', refusal: DENIED },
];

/** What only reads, or changes what may be written. */
const ALLOWED = ['clone-in', 'clone-range-in', 'dedupe-in', 'dedupe-out', 'read-flags'] as const;

const POLICIES = [
  { mode: 'read-only' },
  { mode: 'read-only', temp: 'none' },
  { mode: 'workspace-write' },
] as const;

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona, { wrap: onBtrfs(persona) }).install(
    'landlock',
    'seccomp',
    'root',
    'loop',
    'filesystem:btrfs',
    'program:mkfs.btrfs',
  );
  const acts = OUTSIDE.filter(({ who }) => who === undefined || who === persona.name);

  let next = 1;

  /** A tree of its own, with what is to be seen of it. */
  async function laidOut() {
    const { runner } = stage;
    const base = join(runner.base, 'mounted', `tree-${next++}`);
    const program = async (word: string) => {
      const { stdout, stderr } = await runner.unconfined(btrfsProgram(), [word, base]);
      expect(stderr, word).toBe('');
      return stdout.trim();
    };
    await program('make');
    // The mount is the runner's alone.
    const seen = (name: string) => join(`/proc/${runner.pid}/root`, base, name);
    const look = async () =>
      new Map([...snapshot(seen('outside')), ['shown', await program('show')]]);
    return { base, program, look, seen };
  }

  async function confined(act: string, base: string, policy: object): Promise<string> {
    const workspace = join(base, 'workspace');
    const { result, error } = await stage.runner.confined(btrfsProgram(), [act, base], {
      ...policy,
      workspace,
      cwd: workspace,
    });
    expect(error?.message).toBeUndefined();
    expect(result?.enforcement?.guarantees.metadata.status).toBe('prevented');
    return `${result?.stdout}`;
  }

  it.each(acts)('$name happens unconfined', async ({ name }) => {
    const { program, look } = await laidOut();
    const before = await look();
    expect(await program(name)).toBe('took-place');
    expect(differences(before, await look())).not.toEqual([]);
  });

  describe.each(POLICIES)('%j', (policy) => {
    it.each(acts)('$name is refused', async ({ name, refusal }) => {
      const { base, look } = await laidOut();
      const before = await look();
      const answer = await confined(name, base, policy);
      expect(differences(before, await look())).toEqual([]);
      expect(answer).toMatch(refusal);
    });
  });

  it.each(ALLOWED)('%s works as it does unconfined, and changes nothing outside', async (name) => {
    const control = await laidOut();
    expect(await control.program(name)).toBe('took-place');
    const tree = await laidOut();
    const before = await tree.look();
    // On a read-only mount not even equal blocks are joined.
    const policy = {
      mode: 'workspace-write',
      namespaces: name === 'dedupe-out' ? 'never' : 'auto',
    };
    expect(await confined(name, tree.base, policy)).toBe('took-place');
    expect(differences(before, await tree.look())).toEqual([]);
    if (!name.startsWith('clone-')) return;
    const cloned = readFileSync(tree.seen('workspace/clone'), 'utf8');
    expect(cloned).toBe(readFileSync(control.seen('workspace/clone'), 'utf8'));
    expect(cloned).toMatch(/^o{4096}/);
  });
});
