import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gatherFacts } from '../../../src/facts/gather.js';
import { canonicalAsFarAsItExists, readHost } from '../../../src/facts/host.js';

let place: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync('/tmp/host-'));
  mkdirSync(join(place, 'home'));
  symlinkSync('home', join(place, 'link'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

describe('homes', () => {
  const passwd = canonicalAsFarAsItExists(userInfo().homedir);

  it('are HOME and the one of the user database, canonical', () => {
    expect(readHost({ HOME: join(place, 'link') }).homes).toEqual([join(place, 'home'), passwd]);
    expect(readHost({ HOME: passwd }).homes).toEqual([passwd]);
  });

  it.each(['', 'relative', './x'])('HOME=%j is ignored', (home) => {
    expect(readHost({ HOME: home }).homes).toEqual([passwd]);
  });

  it('may not exist', () => {
    expect(readHost({ HOME: join(place, 'link/none') }).homes[0]).toBe(join(place, 'home/none'));
  });
});

describe("Cordon's directories", () => {
  it('follow the XDG variables, canonical as far as they exist', () => {
    const env = {
      HOME: join(place, 'home'),
      XDG_RUNTIME_DIR: join(place, 'link/run'),
      XDG_STATE_HOME: join(place, 'link'),
      XDG_CONFIG_HOME: 'relative',
    };
    expect(readHost(env).cordon).toMatchObject({
      runtime: join(place, 'home/run/cordon'),
      state: join(place, 'home/cordon'),
      config: join(place, 'home/.config/cordon'),
      cache: join(place, 'home/.cache/cordon'),
    });
  });

  it('resolves what is there and keeps the rest', () => {
    expect(canonicalAsFarAsItExists(join(place, 'link/a/b'))).toBe(join(place, 'home/a/b'));
    expect(canonicalAsFarAsItExists('/')).toBe('/');
  });
});

describe('the parent of temp directories', () => {
  it('is TMPDIR where that is an absolute, short, existing directory', () => {
    expect(readHost({ TMPDIR: join(place, 'link') }).tempParent).toBe(join(place, 'home'));
  });

  it('is /tmp otherwise', () => {
    writeFileSync(join(place, 'file'), '');
    mkdirSync(join(place, 'x'.repeat(60)));
    const others = ['', '.', 'relative', join(place, 'none'), join(place, 'file')];
    for (const wanted of [...others, join(place, 'x'.repeat(60))]) {
      expect(readHost({ TMPDIR: wanted }).tempParent).toBe('/tmp');
    }
    expect(readHost({}).tempParent).toBe('/tmp');
  });
});

describe('this machine', () => {
  it('has the sinks, and ids that are ours', () => {
    const host = readHost(process.env);
    expect(host.devices['/dev/null']).toMatchObject({ path: '/dev/null', kind: 'device' });
    expect(host.uid).toBe(process.geteuid?.());
    expect(host.gid).toBe(process.getegid?.());
    expect(host.groups).toEqual(process.getgroups?.());
  });

  it('counts an object in /dev/shm as occupied', () => {
    const object = mkdtempSync('/dev/shm/host-');
    expect(readHost({}).sharedMemoryOccupied).toBe(true);
    rmSync(object, { recursive: true });
  });
});

describe('gatherFacts', () => {
  it('looks up what the parameters name, and nothing else', () => {
    const held = gatherFacts({ workspace: 'link' }, { cwd: place, env: {} });
    expect(held.facts.cwd.path).toBe(place);
    expect([...held.facts.roots.keys()]).toEqual(['link']);
    held.dispose();
  });
});
