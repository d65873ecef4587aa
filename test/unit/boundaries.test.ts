/**
 * The imports of `src` and the includes of `native` are what the boundaries allow, and no folder is
 * without a rule.
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { BOUNDARIES, biomeGroup, COMMAND_START, LIBRARY_FACE } from '../support/boundaries.js';

const root = join(import.meta.dirname, '..', '..');
const src = join(root, 'src');

interface Override {
  readonly includes: readonly string[];
  readonly linter: {
    readonly rules: {
      readonly style: {
        readonly noRestrictedImports?: {
          readonly options: {
            readonly patterns: readonly { readonly group: readonly string[] }[];
          };
        };
      };
    };
  };
}

const biome = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as {
  readonly overrides: readonly Override[];
};

function folders(parent: string): readonly string[] {
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

function files(folder: string, ending: RegExp): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));
}

function imports(file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true);
  return importedFiles.map(({ fileName }) => fileName);
}

function isNode(specifier: string): boolean {
  return specifier.startsWith('node:');
}

/**
 * First segment below `src` of what a relative import names; the file name for a file right in
 * `src`.
 */
function target(file: string, specifier: string): string {
  const path = posix.join(posix.dirname(relative(src, file)), specifier);
  return path.split('/')[0] ?? path;
}

describe('import boundaries', () => {
  test('every folder of src has a rule, and every rule a folder', () => {
    expect(Object.keys(BOUNDARIES).sort()).toEqual([...folders(src)].sort());
  });

  test('only the library face stands right in src', () => {
    const found = readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(found.map((entry) => entry.name)).toEqual(['index.ts']);
  });

  test.each(Object.keys(BOUNDARIES))('biome has the same rule for %s', (folder) => {
    const rules = biome.overrides.filter(({ includes }) => includes.includes(`src/${folder}/**`));
    const groups = rules.flatMap(
      ({ linter }) =>
        linter.rules.style.noRestrictedImports?.options.patterns.map(({ group }) => group) ?? [],
    );
    expect(groups).toEqual([biomeGroup(boundary(folder))]);
  });

  test.each(Object.keys(BOUNDARIES))('%s imports only what it may', (folder) => {
    const { folders: allowed, others } = boundary(folder);
    const wrong = files(join(src, folder), /\.ts$/).flatMap((file) =>
      imports(file)
        .filter((specifier) => {
          if (!specifier.startsWith('.')) {
            return !(
              others.includes(specifier) ||
              (others.includes('node:*') && isNode(specifier))
            );
          }
          const into = target(file, specifier);
          if (into === folder || allowed.includes(into)) return false;
          return !(into === 'index.js' && others.includes('../../index.js'));
        })
        .map((specifier) => `${relative(root, file)}: ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  test('the command imports of run only what the library face re-exports', () => {
    const offered = imports(join(src, 'index.ts')).map((name) => posix.join(name));
    const used = files(join(src, 'cli'), /\.ts$/).flatMap((file) =>
      imports(file)
        .filter((name) => target(file, name) === 'run')
        .map((name) => relative(src, join(dirname(file), name))),
    );
    expect(used.filter((name) => ![...offered, ...COMMAND_START].includes(name))).toEqual([]);
  });

  test('the library face re-exports run, errors and schema', () => {
    const face = join(src, 'index.ts');
    const wrong = imports(face).filter((name) => !LIBRARY_FACE.includes(target(face, name)));
    expect(wrong).toEqual([]);
    const { statements } = ts.createSourceFile(
      face,
      readFileSync(face, 'utf8'),
      ts.ScriptTarget.ES2022,
    );
    expect(statements.every((statement) => ts.isExportDeclaration(statement))).toBe(true);
  });
});

describe('native boundaries', () => {
  const native = join(root, 'native');
  const sources = ['core', 'linux', 'exec', 'binding'].flatMap((folder) =>
    files(join(native, folder), /\.(cc|h)$/),
  );

  test('only native/binding includes napi.h, and addon.cc', () => {
    const including = sources.filter((file) =>
      /#include\s*[<"](napi|node_api)\.h/.test(readFileSync(file, 'utf8')),
    );
    const outside = including.filter((file) => !file.startsWith(join(native, 'binding')));
    expect(outside.map((file) => relative(root, file))).toEqual([]);
  });

  test('core includes nothing of the other folders', () => {
    const wrong = sources
      .filter((file) => file.startsWith(join(native, 'core')))
      .filter((file) => /#include\s*"(linux|exec|binding)\//.test(readFileSync(file, 'utf8')));
    expect(wrong.map((file) => relative(root, file))).toEqual([]);
  });

  test('binding.gyp lists every source, none twice in a target, and no other', () => {
    const text = readFileSync(join(root, 'binding.gyp'), 'utf8');
    const lists = [...text.matchAll(/_?sources': \[([^\]]*)\]/g)].map(([, list = '']) =>
      [...list.matchAll(/'(native\/[^']*)'/g)].map(([, name]) => name),
    );
    for (const list of lists) expect(list).toEqual([...new Set(list)]);
    const present = ['native/addon.cc', ...sources.map((file) => relative(root, file))];
    expect([...new Set(lists.flat())].sort()).toEqual(
      present.filter((name) => name.endsWith('.cc')).sort(),
    );
  });
});

function boundary(folder: string) {
  const found = BOUNDARIES[folder];
  if (!found) throw new Error(`no rule for src/${folder}`);
  return found;
}
