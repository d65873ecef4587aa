/**
 * Programs that pick from structured text: jq, yq, xmllint.
 * @module
 */

import type { Call, Effect, Program, Token } from '../effect.js';
import { parseOptions } from '../options.js';
import { isSecretVariable } from '../variables.js';
import {
  doing,
  eachOperand,
  HELP,
  has,
  is,
  optionEffects,
  type Parsed,
  type ProgramTable,
  plain,
  program,
  reading,
  startingToo,
  valued,
  writing,
} from './table.js';

const JQ_TABLE: ProgramTable = {
  rows: [
    ...HELP,
    ...plain('-s,--slurp -r,--raw-output -c,--compact-output -C,--color-output -h --stream -V'),
    ...plain('-M,--monochrome-output -a,--ascii-output --unbuffered -S,--sort-keys -R,--raw-input'),
    ...plain('-n,--null-input -f,--from-file -b,--binary --tab --stream-errors -e,--exit-status'),
    ...plain('--seq --args --jsonargs --debug-dump-disasm --debug-trace -j,--join-output'),
    ...plain('--raw-output0 --build-configuration --strip-comments'),
    ...valued('--indent'),
    ...reading('-L,--library-path', 'reads-tree'),
  ],
  abbreviations: false,
  operands: 'nothing',
  harmless: true,
};

/** Options of jq that take a name and a value, and whether the value is a file. */
const PAIRS: ReadonlyMap<string, boolean> = new Map([
  ['--arg', false],
  ['--argjson', false],
  ['--slurpfile', true],
  ['--rawfile', true],
  ['--argfile', true],
]);

/** The words without those options, and the files that they read. */
function withoutPairs(args: readonly Token[]): {
  readonly words: readonly Token[];
  readonly files: readonly Token[];
} {
  const words: Token[] = [];
  const files: Token[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined) break;
    const readsFile = PAIRS.get(word.value ?? '');
    if (readsFile === undefined) {
      words.push(word);
      continue;
    }
    const value = args[at + 2];
    if (readsFile && value !== undefined) files.push(value);
    at += 2;
  }
  return { words, files };
}

const JQ: Program = (call) => {
  const { words, files } = withoutPairs(call.args);
  const parsed = parseOptions(words, JQ_TABLE);
  const [filter, ...inputs] = parsed.operands;
  const hasFile = has(parsed, '-f');
  const takesWords = has(parsed, '--args') || has(parsed, '--jsonargs');
  return {
    effects: [
      ...optionEffects(parsed),
      ...eachOperand(files, 'reads'),
      ...eachOperand(filter !== undefined && hasFile ? [filter] : [], 'reads'),
      ...eachOperand(takesWords ? [] : inputs, 'reads'),
      ...(filter === undefined || hasFile
        ? []
        : environmentEffects(filter, /\$ENV|(?<![.\w$])env/g)),
    ],
  };
};

/** What a filter takes from the environment: named by a literal, or nobody knows what. */
function environmentEffects(filter: Token, words: RegExp): readonly Effect[] {
  const text = filter.value ?? '';
  const isSecret = [...text.matchAll(words)].some(({ 0: word, index }) => {
    const [, name] = /^\.(\w+)|^\["(\w+)"\]/.exec(text.slice(index + word.length)) ?? [];
    return name === undefined || isSecretVariable(name);
  });
  return isSecret ? [is(filter, 'secret-like', `\`${filter.text}\` reads the environment`)] : [];
}

const SPLITS = { class: 'unknown', reason: '`-s` writes a file for each result' } as const;

/** Both programs of that name: the one in Go and the one in Python over jq. */
const YQ_TABLE: ProgramTable = {
  rows: [
    ...HELP,
    ...plain(
      '-r,--unwrapScalar,--raw-output -n,--null-input -P,--prettyPrint -C,--colors -v,--verbose',
    ),
    ...plain('-M,--no-colors -j,--tojson -e,--exit-status -N,--no-doc -0,--nul-output -c -h -V -S'),
    ...plain('-y,--yaml-output,--yml-output -Y,--yaml-roundtrip,--yml-roundtrip -a --tab -R'),
    ...plain(
      '--indentless-lists,--indentless --security-disable-env-ops --security-disable-file-ops',
    ),
    ...valued('-o,--output-format -p,--input-format -I,--indent -w,--width --expression'),
    ...valued('--yaml-output-grammar-version,--yml-out-ver --xml-attribute-prefix --csv-separator'),
    ...valued('--xml-content-name --properties-separator --lua-prefix --tsv-separator'),
    ...reading('--from-file'),
    ...plain('-i,--inplace,--in-place'),
    ...doing('optional', '-s,--split-exp', SPLITS),
    ...doing('value', '--split-exp-file', SPLITS),
  ],
  operands: yqOperands,
};

const YQ_COMMANDS = /^(?:e|ea|eval|eval-all)$/;

function yqOperands(parsed: Parsed, { input }: Call): readonly Effect[] {
  const words = YQ_COMMANDS.test(parsed.operands[0]?.value ?? '')
    ? parsed.operands.slice(1)
    : parsed.operands;
  const hasFilter = has(parsed, '--expression') || has(parsed, '--from-file');
  const [filter, ...rest] = words;
  // One word alone may be a file, which is shown.
  const isAlone =
    rest.length === 0 && input === 'inherited' && /^[\w/-]/.test(filter?.prefix ?? '');
  const files = hasFilter || isAlone ? words : rest;
  return [
    ...eachOperand(files, has(parsed, '-i') ? 'writes' : 'reads'),
    ...parsed.options.flatMap(({ row, value }) =>
      row.names.includes('--expression') && value !== undefined ? yqFilter(value) : [],
    ),
    ...(filter === undefined || hasFilter ? [] : yqFilter(filter)),
  ];
}

function yqFilter(filter: Token): readonly Effect[] {
  const starts = /\b(?:system|load\w*|eval)\b/.test(filter.value ?? '');
  return [
    ...environmentEffects(filter, /\$ENV|(?<![.\w$])(?:str)?env(?:subst)?/g),
    ...(starts
      ? [is(filter, 'unknown', `\`${filter.text}\` may load files or start programs`)]
      : []),
  ];
}

const FETCHES = { class: 'unknown', reason: 'it may fetch what the document names' } as const;

const XMLLINT_TABLE: ProgramTable = {
  rows: withOneDash([
    ...plain('--version --debug --debugent --copy --recover --huge --noenc --noout --load-trace'),
    ...plain('--nonet --nocompact --htmlout --nowrap --quiet --timing --repeat --insert --html'),
    ...plain('--xmlout --nodefdtd --push --pushsmall --memory --nowarning --noblanks --nocdata'),
    ...plain('--format --dropdtd --c14n --c14n11 --exc-c14n --nsclean --testIO --nocatalogs'),
    ...plain('--auto --noxincludenode --nofixup-base-uris --stream --walker --chkregister --sax1'),
    ...plain('--sax --oldxml10 --help'),
    ...valued('--maxmem --encode --pretty --pattern --xpath --xpath0'),
    ...writing('-o,--output'),
    ...doing('nothing', '--shell', { class: 'unknown', reason: '`--shell` takes commands' }),
    ...doing('nothing', '--noent --valid --postvalid --xinclude --loaddtd --dtdattr', FETCHES),
    ...doing('nothing', '--catalogs --compress', FETCHES),
    ...doing('value', '--dtdvalid --dtdvalidfpi --path --relaxng --schema --schematron', FETCHES),
  ]),
  abbreviations: false,
  clusters: false,
  singleDash: true,
  operands: ({ operands }) =>
    operands.flatMap((operand) =>
      /^[a-z]+:/i.test(operand.prefix)
        ? [is(operand, 'network', `\`${operand.text}\` is fetched`)]
        : eachOperand([operand], 'reads'),
    ),
};

/** Every long name is also written with one dash. */
function withOneDash(rows: ProgramTable['rows']): ProgramTable['rows'] {
  return rows.map((row) => ({
    ...row,
    names: row.names.flatMap((name) => (name.startsWith('--') ? [name, name.slice(1)] : [name])),
  }));
}

export const STRUCTURED_PROGRAMS: Readonly<Record<string, Program>> = {
  jq: JQ,
  yq: startingToo(program(YQ_TABLE), ['jq', '.']),
  xmllint: program(XMLLINT_TABLE),
};
