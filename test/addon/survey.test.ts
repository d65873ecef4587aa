import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SurveyRequest } from '../../src/native/binding.js';
import { loadNative } from '../../src/native/load.js';
import { ROOT } from '../support/as-user.js';
import { until } from '../support/until.js';

const { binding } = loadNative();

let place: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'survey-')));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const TREE: SurveyRequest = {
  start: 'tree',
  names: ['.envrc', '.vscode'],
  suffixes: ['.code-workspace'],
  places: ['.config/fish/config.fish'],
  closed: ['node_modules'],
  depth: 3,
  directories: 1000,
  entries: 10_000,
};

function file(name: string, content = ''): string {
  const path = join(place, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const directory = (name: string) => mkdirSync(join(place, name), { recursive: true });

function survey(request: Partial<SurveyRequest> = {}, root = place) {
  const { found, ...rest } = binding.survey(root, { ...TREE, ...request });
  return { found, paths: found.map(({ path }) => path).sort(), ...rest };
}

const openDescriptors = () => readdirSync('/proc/self/fd').length;

describe('names', () => {
  it('are found down to the depth, nowhere else, and without the case of letters', () => {
    for (const name of ['.envrc', 'a/b/c/.envrc', 'a/b/c/d/.envrc', 'x/.ENVRC', 'x.Code-Workspace'])
      file(name);
    file('.config/fish/config.fish');
    file('config.fish');
    file('.code-workspace');
    file('node_modules/p/.envrc');
    directory('y/.vscode/.vscode');
    expect(survey().paths).toEqual([
      '.config/fish/config.fish',
      '.envrc',
      'a/b/c/.envrc',
      'x.Code-Workspace',
      'x/.ENVRC',
      'y/.vscode',
    ]);
    expect(survey().stopped).toBeUndefined();
  });

  it('are of the very root that is meant, or of none', () => {
    file('.envrc');
    const { dev, ino } = statSync(place, { bigint: true });
    expect(survey({ identity: { dev, ino } }).paths).toEqual(['.envrc']);
    for (const identity of [
      { dev: dev + 1n, ino },
      { dev, ino: ino + 1n },
    ]) {
      expect(() => survey({ identity })).toThrow(/ESTALE/);
    }
    symlinkSync(place, join(place, 'link'));
    expect(() => survey({ identity: { dev, ino } }, join(place, 'link'))).toThrow();
    for (const identity of [{}, { dev: 1, ino: 1 }, { dev }, 'root']) {
      expect(() => survey({ identity } as unknown as SurveyRequest)).toThrow(TypeError);
    }
  });

  it('of a repository are told by its configuration alone, and of a directory with another one not', () => {
    for (const name of ['bare', 'other']) directory(`${name}/hooks`);
    file('bare/config', '[core]\n\trepositoryFormatVersion = 0\n');
    file('other/config', '[core]\n');
    const { found } = survey();
    expect(found.filter(({ isGitDir }) => isGitDir).map(({ path }) => path)).toEqual(['bare']);
    expect(found.map(({ path }) => path).sort()).toEqual(['bare', 'bare/config', 'bare/hooks']);
  });

  it('of every kind are told, and nothing is followed', () => {
    file('target/.envrc');
    symlinkSync('target', join(place, 'link'));
    symlinkSync('../../..', join(place, 'target/loop'));
    symlinkSync('target/.envrc', join(place, '.envrc'));
    mkdirSync(join(place, 'p'));
    execFileSync('mkfifo', [join(place, 'p/.envrc')]);
    linkSync(join(place, 'target/.envrc'), join(place, 'other'));
    const seen = survey().found.map(({ path, kind, links, text }) => [path, kind, links, text]);
    expect(seen[0]).toEqual(['.envrc', 'symlink', 1, 'target/.envrc']);
    expect(new Set(seen.slice(1))).toEqual(
      new Set([
        ['target/.envrc', 'file', 2, undefined],
        ['p/.envrc', 'fifo', 1, undefined],
      ]),
    );
  });

  it('a bound is told, and what is nearest to the root is found', () => {
    file('a/b/.envrc');
    file('.envrc');
    expect(survey({ directories: 1 })).toMatchObject({ paths: ['.envrc'], stopped: 'directories' });
    expect(survey({ entries: 4 }).stopped).toBeUndefined();
    for (let index = 0; index < 20; index++) file(`many/${index}`);
    expect(survey({ entries: 10 })).toMatchObject({ stopped: 'entries' });
  });

  it('a name that JavaScript cannot hold is told', () => {
    mkdirSync(Buffer.concat([Buffer.from(`${place}/`), Buffer.from([0xe9])]));
    writeFileSync(
      Buffer.concat([Buffer.from(`${place}/`), Buffer.from([0xe9]), Buffer.from('/.envrc')]),
      '',
    );
    expect(survey()).toMatchObject({ paths: [], stopped: 'unnameable' });
  });

  it('pseudo file systems are not entered', () => {
    expect(survey({ names: ['status'] }, '/proc').paths).toEqual([]);
    expect(
      survey({ names: ['status'], depth: 1 }, '/').paths.filter((path) => path.startsWith('proc')),
    ).toEqual([]);
  });

  it('a root that is none has an errno, and nothing stays open', () => {
    const before = openDescriptors();
    const refused: [string, string][] = [
      ['gone', 'ENOENT'],
      ['file', 'ENOTDIR'],
    ];
    file('file');
    for (const [name, code] of refused) {
      expect(() => survey({}, join(place, name))).toThrow(expect.objectContaining({ code }));
    }
    survey();
    expect(openDescriptors()).toBe(before);
  });
});

describe('git', () => {
  it('tells what a repository holds of what becomes code, with what stands in its small files', () => {
    execFileSync('git', ['init', '-q', place]);
    file('.git/config', '[core]\n');
    file('.git/info/attributes');
    file('.git/config.worktree', 'x');
    directory('.git/modules/a/b/hooks');
    file('.git/modules/a/b/HEAD');
    file('.git/modules/a/b/config', 'inner');
    file('.git/worktrees/w/commondir', '../..\n');
    file('.git/worktrees/w/gitdir', '/w/.git\n');
    const { found, stopped } = survey();
    expect(stopped).toBeUndefined();
    expect(found.map(({ path, isGitDir, text }) => [path, isGitDir === true, text])).toEqual([
      ['.git', true, undefined],
      ['.git/hooks', false, undefined],
      ['.git/config', false, '[core]\n'],
      ['.git/config.worktree', false, 'x'],
      ['.git/info/attributes', false, undefined],
      ['.git/modules/a/b', true, undefined],
      ['.git/modules/a/b/hooks', false, undefined],
      ['.git/modules/a/b/config', false, 'inner'],
      ['.git/worktrees/w', true, undefined],
      ['.git/worktrees/w/commondir', false, '../..\n'],
      ['.git/worktrees/w/gitdir', false, '/w/.git\n'],
    ]);
  });

  it('a bare repository is known by what it holds, also when it is the root', () => {
    execFileSync('git', ['init', '-q', '--bare', join(place, 'b.git')]);
    const inside = ['b.git', 'b.git/config', 'b.git/hooks'];
    expect(survey().paths).toEqual(inside);
    expect(survey({}, join(place, 'b.git')).paths).toEqual(['', 'config', 'hooks']);
    expect(survey({ start: 'git-dir' }, join(place, 'b.git')).paths).toEqual([
      '',
      'config',
      'hooks',
    ]);
  });

  it('files are only read when they are small and files', () => {
    directory('a/.git');
    execFileSync('mkfifo', [join(place, 'a/.git/config')]);
    expect(survey().found.map(({ path, kind, text }) => [path, kind, text])).toEqual([
      ['a/.git', 'directory', undefined],
      ['a/.git/config', 'fifo', undefined],
    ]);
    expect(survey().stopped).toBeUndefined();
    file('b/.git', 'x'.repeat(300_000));
    expect(survey().stopped).toBe('unread');
    rmSync(join(place, 'b'), { recursive: true });
    symlinkSync('/dev/zero', join(place, 'b'));
    mkdirSync(join(place, 'c'));
    symlinkSync('/dev/zero', join(place, 'c/.git'));
    expect(survey().found.find(({ path }) => path === 'c/.git')).toMatchObject({
      path: 'c/.git',
      kind: 'symlink',
      text: '/dev/zero',
    });
  });
});

describe('memory', () => {
  const settled = (request: Partial<SurveyRequest> = {}) =>
    until('a memory that can tell', () => {
      const { memory } = survey(request);
      return binding.isAsRemembered(memory) && memory;
    });

  const changes: [string, () => void][] = [
    ['a name that comes', () => file('a/b/new')],
    ['a name that goes', () => rmSync(join(place, 'a/b'), { recursive: true })],
    ['a directory in a repository', () => directory('.git/modules')],
    ['text', () => writeFileSync(join(place, '.git/config'), 'other')],
    [
      'text of the same length at the same time',
      () => {
        const then = new Date(1000);
        writeFileSync(join(place, '.git/config'), '[cora]\n');
        utimesSync(join(place, '.git/config'), then, then);
      },
    ],
    ['another name of a file', () => linkSync(join(place, 'a/.envrc'), join(place, 'other'))],
    [
      'another directory',
      () => {
        rmSync(join(place, '.git/hooks'), { recursive: true });
        file('.git/hooks', '');
      },
    ],
    [
      'the root',
      () => {
        execFileSync('mv', [place, `${place}-moved`]);
        mkdirSync(place);
        rmSync(`${place}-moved`, { recursive: true });
      },
    ],
  ];
  it.each(changes)('sees %s', async (_what, change) => {
    file('a/.envrc');
    file('a/b/c');
    directory('.git/hooks');
    file('.git/config', '[core]\n');
    const memory = await settled();
    expect(binding.isAsRemembered(memory)).toBe(true);
    change();
    expect(binding.isAsRemembered(memory)).toBe(false);
  });

  it('cannot tell of what changed a moment ago, nor of what it does not know', async () => {
    // A change in the same tick of the clock has the same time: such a memory is never taken for true.
    for (let round = 0; round < 200; round++) {
      file(`m/${round}`);
      const { memory } = survey();
      const isSure = binding.isAsRemembered(memory);
      file(`m/${round}-again`);
      expect(binding.isAsRemembered(memory), `round ${round}, sure ${isSure}`).toBe(false);
    }
    for (const none of [0, -1, 1e9, Number.NaN]) expect(binding.isAsRemembered(none)).toBe(false);
  });

  it('is of several looks, and of what is not there', async () => {
    file('a');
    const memory = await until('one that can tell', () => {
      const first = survey().memory;
      const { memory: both } = binding.look([join(place, 'a'), join(place, 'gone')], first);
      expect(both).toBe(first);
      return binding.isAsRemembered(both) && both;
    });
    writeFileSync('/dev/null', '');
    expect(binding.isAsRemembered(memory)).toBe(true);
    file('gone');
    expect(binding.isAsRemembered(memory)).toBe(false);
    expect(binding.isAsRemembered(binding.look([join(place, 'a')], 123_456).memory)).toBe(false);
  });
});

describe('wrong arguments', () => {
  const rows: readonly (readonly unknown[])[] = [
    [],
    ['/'],
    ['/', {}],
    ['a\0b', TREE],
    ['/', { ...TREE, start: 'all' }],
    ['/', { ...TREE, names: 'x' }],
    ['/', { ...TREE, names: [''] }],
    ['/', { ...TREE, places: [1] }],
    ['/', { ...TREE, depth: -1 }],
    ['/', { ...TREE, entries: 1.5 }],
    ['/', TREE, 'memory'],
  ];
  it.each(rows.map((row) => [row]))('survey(%j)', (row) => {
    expect(() => Reflect.apply(binding.survey, binding, row)).toThrow(TypeError);
  });
  it.each([[[]], [['/']], [[['']]], [[['a\0']]], [[['/'], 'x']]])('look(%j)', (row) => {
    expect(() => Reflect.apply(binding.look, binding, row)).toThrow(TypeError);
  });
  it.each([[[]], [['1']], [[[1]]]])('isAsRemembered(%j)', (row) => {
    expect(() => Reflect.apply(binding.isAsRemembered, binding, row)).toThrow(TypeError);
  });
});

describe('a directory that cannot be read', () => {
  it('is told where the user could make it readable, and is nobody’s otherwise', () => {
    if (ROOT === undefined) return own();
    // Root reads everything; an ordinary user is tried by a process of its own.
    mkdirSync(join(place, 'own'), { mode: 0o300 });
    mkdirSync(join(place, 'foreign'), { mode: 0o700 });
    chownSync(join(place, 'own'), 4242, 4242);
    chownSync(place, 4242, 4242);
    expect(asUser()).toBe('unreadable');
    chmodSync(join(place, 'own'), 0o700);
    expect(asUser()).toBe('undefined');
  });

  function own(): void {
    mkdirSync(join(place, 'own'), { mode: 0o300 });
    expect(survey().stopped).toBe('unreadable');
    chmodSync(join(place, 'own'), 0o700);
    expect(survey().stopped).toBeUndefined();
  }

  function asUser(): string {
    const addon = join(place, 'cordon.node');
    execFileSync('cp', [join(dirname(loadNative().executable), 'cordon.node'), addon]);
    const script = `console.log(String(require(process.argv[1]).survey(process.argv[2], JSON.parse(process.argv[3])).stopped))`;
    return execFileSync(
      'setpriv',
      [
        '--reuid=4242',
        '--regid=4242',
        '--clear-groups',
        '--',
        process.execPath,
        '-e',
        script,
        addon,
        place,
        JSON.stringify(TREE),
      ],
      { encoding: 'utf8' },
    ).trim();
  }
});
