import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigRequest, Configuration } from '../../../src/config/load.js';
import { loadConfiguration, rulesFile } from '../../../src/config/load.js';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import { LIMITS } from '../../../src/schema/limits.js';
import { FOREIGN_ID } from '../../support/as-user.js';
import { needs } from '../../support/require.js';

let place: string;
const uid = process.getuid?.() ?? 0;
const gid = process.getgid?.() ?? 0;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'cl-'));
  chmodSync(place, 0o755);
  for (const name of ['home', 'work']) mkdirSync(at(name));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function at(name: string): string {
  return join(place, name);
}

/** In what may only the owner write, whatever the umask says. */
function file(name: string, text: string, mode = 0o644): string {
  const path = at(name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const SYSTEM = 'etc/cordon/config.toml';
const CEILING = 'etc/cordon/ceiling.toml';
const USER = 'home/.config/cordon/config.toml';
const RULES = 'home/.config/cordon/rules.toml';
const PROJECT = 'work/cordon.toml';

function load(rest: Partial<ConfigRequest> = {}): Promise<Configuration> {
  return loadConfiguration({
    env: { HOME: at('home') },
    uid,
    gid,
    cwd: at('work'),
    readsProject: true,
    system: at('etc/cordon'),
    ...rest,
  });
}

async function refusal(rest: Partial<ConfigRequest> = {}): Promise<SandboxError> {
  const error: unknown = await load(rest).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof SandboxError) return error;
  throw new Error(`it was not refused: ${String(error)}`);
}

const DENY = '[[rule]]\ntool = "bash"\nbehavior = "deny"\n';

describe('without files', () => {
  it('nothing is said, and where they would be', async () => {
    const { files, layer, rules, ceiling, settings } = await load();
    expect(layer).toEqual({ params: {}, origins: {} });
    expect(rules).toEqual([]);
    expect(ceiling).toBeUndefined();
    expect(settings.timeoutMs).toEqual({ value: 0, origin: { kind: 'default' } });
    expect(files).toEqual([
      { level: 'system', path: at(SYSTEM), status: 'missing' },
      { level: 'ceiling', path: at(CEILING), status: 'missing' },
      { level: 'user', path: at(USER), status: 'missing' },
      { level: 'user', path: at(RULES), status: 'missing' },
      { level: 'project', path: at(PROJECT), status: 'missing' },
    ]);
  });

  it('the system’s are in /etc/cordon, whatever variables say', async () => {
    const env = { HOME: at('home'), XDG_CONFIG_DIRS: at('etc'), CORDON_CONFIG: at('etc') };
    const { files } = await loadConfiguration({
      env,
      uid,
      gid,
      cwd: at('work'),
      readsProject: true,
    });
    expect(files.slice(0, 2).map(({ path }) => path)).toEqual([
      '/etc/cordon/config.toml',
      '/etc/cordon/ceiling.toml',
    ]);
  });

  it('the user’s are where XDG_CONFIG_HOME says, a relative value ignored', async () => {
    const env = { HOME: at('home'), XDG_CONFIG_HOME: at('cfg') };
    expect((await load({ env })).files[2]?.path).toBe(at('cfg/cordon/config.toml'));
    expect(rulesFile(env)).toBe(at('cfg/cordon/rules.toml'));
    const relative = { HOME: at('home'), XDG_CONFIG_HOME: 'cfg' };
    expect((await load({ env: relative })).files[2]?.path).toBe(at(USER));
  });

  it('a home that is no directory, or none, holds none', async () => {
    for (const HOME of ['/dev/null', '/nonexistent']) {
      expect((await load({ env: { HOME } })).layer.params).toEqual({});
    }
  });
});

describe('the user’s file', () => {
  it('is read, with the line of each value', async () => {
    const path = file(USER, 'mode = "workspace-write"\n\ntimeout = 2.5\nallow-write = ["~/"]\n');
    const { layer, settings, files } = await load();
    expect(layer).toEqual({
      params: { mode: 'workspace-write', allowWrite: [`${at('home')}/`] },
      origins: {
        mode: { kind: 'user', name: path, line: 1 },
        allowWrite: { kind: 'user', name: path, line: 4 },
      },
    });
    expect(settings.timeoutMs).toEqual({
      value: 2500,
      origin: { kind: 'user', name: path, line: 3 },
    });
    expect(files[2]?.status).toBe('found');
  });

  it('has rules beside it, in a file that holds nothing else', async () => {
    file(USER, DENY);
    const rules = file(RULES, `\n${DENY}`);
    expect((await load()).rules.map(({ rule }) => rule.source)).toEqual([
      `${at(USER)}:1`,
      `${rules}:2`,
    ]);
    file(RULES, 'mode = "read-only"');
    expect(await refusal()).toMatchObject({ code: 'CONFIG_INVALID', object: rules });
  });

  it('names paths that exist, or says which does not', async () => {
    file(USER, 'temp = "none"\nhide = ["/no/such/thing", "~/nor"]');
    const error = await refusal();
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain('line 2, column 1: "hide" names "/no/such/thing", which');
    expect(error.message).toContain(`"${at('home')}/nor", which does not exist`);
  });

  it('may be a link, as of who keeps such files elsewhere', async () => {
    file('dotfiles/config.toml', 'temp = "none"');
    mkdirSync(dirname(at(USER)), { recursive: true });
    symlinkSync(at('dotfiles/config.toml'), at(USER));
    expect((await load()).layer.params).toEqual({ temp: 'none' });
  });

  const unreadable: [string, (path: string) => void, string][] = [
    ['a link that leads nowhere', (path) => symlinkSync('/no/such', path), 'no such file'],
    ['a directory', (path) => mkdirSync(path), 'not a file'],
    ['a pipe, without waiting for it', (path) => execFileSync('mkfifo', [path]), 'not a file'],
    ['no UTF-8', (path) => writeFileSync(path, Buffer.from([0x61, 0xff])), 'not valid UTF-8'],
    [
      'too large',
      (path) => {
        writeFileSync(path, '');
        truncateSync(path, LIMITS.configBytes.value + 1);
      },
      'larger than',
    ],
  ];
  it.each(unreadable)('%s stops the call', async (_words, make, reason) => {
    mkdirSync(dirname(at(USER)), { recursive: true });
    make(at(USER));
    const error = await refusal();
    expect(error).toMatchObject({ code: 'CONFIG_UNREADABLE', object: at(USER) });
    expect(error.message).toContain(reason);
  });

  it('that others may write stops the call, and so does its directory', async () => {
    file(USER, 'temp = "none"', 0o646);
    expect(await refusal()).toMatchObject({ code: 'CONFIG_UNTRUSTED', object: at(USER) });
    chmodSync(at(USER), 0o600);
    expect((await load()).layer.params).toEqual({ temp: 'none' });
    chmodSync(dirname(at(USER)), 0o777);
    expect((await refusal()).message).toContain(`${dirname(at(USER))} can be written by everybody`);
  });

  it('that a group of others may write, too; its own group is as good as the user', async () => {
    file(USER, 'temp = "none"', 0o664);
    expect((await load()).layer.params).toEqual({ temp: 'none' });
    expect((await refusal({ gid: gid + 1 })).message).toContain('can be written by its group');
  });

  it('is not believed where variables lead to it in the tree that is worked in', async () => {
    file('work/.cfg/cordon/config.toml', 'mode = "danger-full-access"');
    const env = { HOME: at('home'), XDG_CONFIG_HOME: at('work/.cfg') };
    const error = await refusal({ env });
    expect(error.code).toBe('CONFIG_UNTRUSTED');
    expect(error.message).toContain(`it lies in ${at('work')}, where the command works`);
    symlinkSync(at('work/.cfg'), at('link'));
    const linked = { HOME: at('home'), XDG_CONFIG_HOME: at('link') };
    expect((await refusal({ env: linked })).code).toBe('CONFIG_UNTRUSTED');
    const elsewhere = { env, cwd: at('home'), workspace: at('home') };
    expect((await load(elsewhere)).layer.params).toEqual({ mode: 'danger-full-access' });
    expect((await refusal({ env, cwd: at('home'), workspace: at('work') })).code).toBe(
      'CONFIG_UNTRUSTED',
    );
  });
});

describe('the project’s file', () => {
  it('narrows: the mode, what is protected, and rules that deny', async () => {
    file(USER, 'mode = "danger-full-access"\nprotect = ["~/"]');
    file('work/docs/a', '');
    const path = file(PROJECT, `mode = "workspace-write"\nprotect = ["docs", "docs/a"]\n${DENY}`);
    const { layer, rules } = await load();
    const own = { kind: 'project', name: path } as const;
    expect(layer).toEqual({
      params: {
        mode: 'workspace-write',
        protect: [`${at('home')}/`, at('work/docs'), at('work/docs/a')],
      },
      origins: {
        mode: { ...own, line: 1 },
        protect: [
          { kind: 'user', name: at(USER), line: 2 },
          { ...own, line: 2 },
          { ...own, line: 2 },
        ],
      },
    });
    expect(rules.map(({ level, line }) => [level, line])).toEqual([['project', 3]]);
  });

  it('never widens: what it allows more than the user does is not taken', async () => {
    file(PROJECT, 'mode = "workspace-write"');
    expect((await load()).layer).toEqual({ params: {}, origins: {} });
    file(USER, 'mode = "read-only"');
    expect((await load()).layer.origins.mode).toMatchObject({ kind: 'user' });
  });

  it('is that of the workspace, not of a directory above or beneath', async () => {
    file('cordon.toml', 'mode = "read-only"');
    file('work/sub/cordon.toml', 'colour = 1');
    expect((await load()).files.at(-1)).toEqual({
      level: 'project',
      path: at(PROJECT),
      status: 'missing',
    });
    expect((await refusal({ workspace: at('work/sub') })).object).toBe(at('work/sub/cordon.toml'));
    file(USER, `workspace = "${at('work/sub')}"`);
    expect((await refusal()).object).toBe(at('work/sub/cordon.toml'));
  });

  it('may be passed over', async () => {
    file(PROJECT, 'colour = 1');
    const { files } = await load({ readsProject: false });
    expect(files.at(-1)?.status).toBe('passed-over');
  });

  it('is no link', async () => {
    symlinkSync(file('elsewhere.toml', 'mode = "read-only"'), at(PROJECT));
    expect((await refusal()).message).toContain('it is a symbolic link');
  });

  it('that names a path beneath it that is none stops the call', async () => {
    file(PROJECT, 'protect = ["docs"]');
    expect((await refusal()).message).toContain(`names "${at('work/docs')}", which does not exist`);
  });

  it('in a workspace that is none is left to what refuses that', async () => {
    file('plain', '');
    expect((await load({ workspace: at('plain') })).files.at(-1)?.status).toBe('missing');
    expect((await load({ workspace: at('none') })).files.at(-1)?.status).toBe('missing');
  });
});

describe('owners', () => {
  needs('root');

  it.each([USER, PROJECT])('%s of another stops the call; root’s is believed', async (name) => {
    chownSync(file(name, 'mode = "read-only"'), FOREIGN_ID, FOREIGN_ID);
    expect((await refusal()).message).toContain(`it belongs to uid ${FOREIGN_ID}, not to root`);
    const caller = { uid: FOREIGN_ID + 1, gid: FOREIGN_ID + 1 };
    expect((await refusal(caller)).code).toBe('CONFIG_UNTRUSTED');
    chownSync(at(name), 0, 0);
    if (name === PROJECT) expect((await load(caller)).files.at(-1)?.status).toBe('found');
  });

  it('the project’s is the caller’s even where its group may write', async () => {
    chownSync(file(PROJECT, 'mode = "read-only"', 0o664), FOREIGN_ID, FOREIGN_ID + 7);
    const { files } = await load({ uid: FOREIGN_ID, gid: FOREIGN_ID });
    expect(files.at(-1)?.status).toBe('found');
  });

  it('the user’s directory is the user’s', async () => {
    file(USER, 'temp = "none"');
    chownSync(dirname(at(USER)), FOREIGN_ID, FOREIGN_ID);
    expect((await refusal()).message).toContain(
      `${dirname(at(USER))} belongs to uid ${FOREIGN_ID}`,
    );
  });

  const spoilt: [string, () => void][] = [
    ['another’s', () => chownSync(at(CEILING), FOREIGN_ID, 0)],
    ['to be written by everybody', () => chmodSync(at(CEILING), 0o666)],
    [
      'to be written by a group',
      () => {
        chmodSync(at(CEILING), 0o664);
        chownSync(at(CEILING), 0, FOREIGN_ID);
      },
    ],
    ['in another’s directory', () => chownSync(at('etc/cordon'), FOREIGN_ID, 0)],
    ['in a directory that everybody writes', () => chmodSync(at('etc/cordon'), 0o777)],
    ['beneath another’s directory', () => chownSync(at('etc'), FOREIGN_ID, 0)],
  ];
  it.each(spoilt)('a ceiling that is %s stops the call', async (_words, spoil) => {
    file(CEILING, 'mode = "read-only"');
    spoil();
    expect(await refusal()).toMatchObject({ code: 'CONFIG_UNTRUSTED', object: at(CEILING) });
  });

  it('a ceiling that is a link is what it leads to', async () => {
    const path = file('elsewhere/ceiling.toml', 'mode = "read-only"');
    mkdirSync(at('etc/cordon'), { recursive: true });
    symlinkSync(path, at(CEILING));
    expect((await load()).ceiling?.layer.params.mode).toBe('read-only');
    chownSync(at('elsewhere'), FOREIGN_ID, 0);
    expect((await refusal()).code).toBe('CONFIG_UNTRUSTED');
  });

  it.each([SYSTEM, CEILING])('%s that leads nowhere stops the call', async (name) => {
    mkdirSync(at('etc/cordon'), { recursive: true });
    symlinkSync('/no/such/file', at(name));
    expect(await refusal()).toMatchObject({ code: 'CONFIG_UNREADABLE', object: at(name) });
  });

  it('a directory of the system that is a file stops the call', async () => {
    file('etc/cordon', '');
    expect((await refusal()).code).toBe('CONFIG_UNREADABLE');
  });

  it('the user goes above the system, lists add up', async () => {
    file(SYSTEM, 'mode = "workspace-write"\ntemp = "none"\nhide = ["secrets"]\ntimeout = 5');
    file(USER, `mode = "read-only"\nhide = ["${at('work')}"]\nkill-after = 1`);
    const { layer, settings } = await load();
    expect(layer.params).toEqual({
      mode: 'read-only',
      temp: 'none',
      hide: ['secrets', at('work')],
    });
    expect(layer.origins.temp).toMatchObject({ kind: 'system', line: 2 });
    expect(layer.origins.hide).toMatchObject([{ kind: 'system' }, { kind: 'user' }]);
    expect(settings.timeoutMs.value).toBe(5000);
    expect(settings.killAfterMs.value).toBe(1000);
  });

  it('the ceiling is met last: times, knobs, and what lies in which home', async () => {
    file(SYSTEM, 'hide = ["~/none"]\ndefault = "allow"');
    file(USER, 'timeout = 9\nask-writes = false');
    file('home/.aws/key', '');
    const path = file(
      CEILING,
      'hide = ["~/.aws", "~/none"]\nallow-write = ["~/x", "/srv"]\ntimeout = 3\nask-writes = true\ndefault = "ask"',
    );
    const { layer, ceiling, settings } = await load();
    expect(layer.params).toEqual({ hide: [] });
    expect(ceiling?.layer.params.hide).toContain(at('home/.aws'));
    expect(ceiling?.layer.params.hide).not.toContain(at('home/none'));
    expect(ceiling?.layer.params.mode).toBe('workspace-write');
    expect(ceiling?.bounds.allowWrite).not.toContain(at('home/x'));
    expect(ceiling?.bounds.allowWrite).toContain('/srv');
    expect(settings).toMatchObject({
      timeoutMs: { value: 3000, origin: { kind: 'ceiling', name: path, line: 3 } },
      askWrites: { value: true, origin: { kind: 'ceiling' } },
      ruleDefault: { value: 'ask', origin: { kind: 'ceiling' } },
    });
  });

  it('one that names a whole path that is none stops the call: what it hides is not known', async () => {
    file(CEILING, 'hide = ["/no/such/path"]');
    expect(await refusal()).toMatchObject({ code: 'CONFIG_INVALID', object: at(CEILING) });
    expect(existsSync('/no/such/path')).toBe(false);
  });
});
