/**
 * Programs that compare files, and programs that print what object files hold.
 * @module
 */

import type { Effect, Program } from '../effect.js';
import {
  doing,
  eachOperand,
  HELP,
  has,
  is,
  maybe,
  type Operands,
  type ProgramRow,
  plain,
  program,
  reading,
  running,
  startingToo,
  type Use,
  valued,
  writing,
} from './table.js';

const PAGINATES = { class: 'unknown', reason: '`--paginate` starts `pr`' } as const;

const DIFF_ROWS: readonly ProgramRow[] = [
  ...HELP,
  ...plain(
    '--normal -q,--brief -s,--report-identical-files -c -u -e,--ed -n,--rcs -y,--side-by-side',
  ),
  ...plain('--left-column --suppress-common-lines -p,--show-c-function -t,--expand-tabs -v'),
  ...plain('-T,--initial-tab --suppress-blank-empty -r,--recursive --no-dereference -N,--new-file'),
  ...plain('--unidirectional-new-file -P --ignore-file-name-case --no-ignore-file-name-case -h -H'),
  ...plain('-i,--ignore-case -E,--ignore-tab-expansion -Z,--ignore-trailing-space -a,--text'),
  ...plain('-b,--ignore-space-change -w,--ignore-all-space -B,--ignore-blank-lines -d,--minimal'),
  ...plain('--strip-trailing-cr --speed-large-files'),
  ...maybe('--color --unified --context'),
  ...valued('-C -U -W,--width -F,--show-function-line --label -L --tabsize -x,--exclude'),
  ...valued('-S,--starting-file -I,--ignore-matching-lines -D,--ifdef --horizon-lines --palette'),
  ...valued('--line-format --old-group-format --new-group-format --unchanged-group-format'),
  ...valued('--changed-group-format --old-line-format --new-line-format --unchanged-line-format'),
  ...reading('-X,--exclude-from'),
  ...reading('--from-file --to-file', 'reads-tree'),
  ...doing('nothing', '-l,--paginate', PAGINATES),
];

/** `diff` of two directories compares what is in them, with `-r` all that is beneath. */
const COMPARED: Operands = (parsed) =>
  eachOperand(parsed.operands, has(parsed, '-r') ? 'reads-tree' : 'reads');

const DIFF = program({ rows: DIFF_ROWS, digits: true, operands: COMPARED });

const CMP = program({
  rows: [
    ...HELP,
    ...plain('-b,--print-bytes -l,--verbose -s,--quiet,--silent -c,--print-chars -v'),
    ...valued('-i,--ignore-initial -n,--bytes'),
  ],
  // After the two files stand numbers.
  operands: ({ operands }) => eachOperand(operands.slice(0, 2), 'reads'),
  harmless: true,
});

/** A word `@file` holds more options; those of object files may load a library. */
function objects(use: Use): Operands {
  return ({ operands }): readonly Effect[] =>
    operands.flatMap((operand) =>
      operand.prefix.startsWith('@')
        ? [is(operand, 'unknown', `\`${operand.text}\` names a file of further options`)]
        : eachOperand([operand], use),
    );
}

function objectReader(...rows: readonly (readonly ProgramRow[])[]): Program {
  return program({ rows: [...HELP, ...rows.flat()], operands: objects('reads') });
}

export const COMPARE_PROGRAMS: Readonly<Record<string, Program>> = {
  diff: DIFF,
  colordiff: startingToo(
    program({
      rows: [...DIFF_ROWS, ...valued('--difftype'), ...plain('--fakeexitcode')],
      digits: true,
      operands: COMPARED,
    }),
    ['diff'],
  ),
  cmp: CMP,
  diff3: startingToo(
    program({
      rows: [
        ...HELP,
        ...plain(
          '-A,--show-all -e,--ed -E,--show-overlap -3,--easy-only -x,--overlap-only -X -i -v',
        ),
        ...plain('-m,--merge -a,--text --strip-trailing-cr -T,--initial-tab'),
        ...valued('-L,--label'),
        ...running('--diff-program'),
      ],
      operands: 'reads',
    }),
    ['diff'],
  ),
  sdiff: startingToo(
    program({
      rows: [
        ...HELP,
        ...plain(
          '-i,--ignore-case -E,--ignore-tab-expansion -Z,--ignore-trailing-space -a,--text -v',
        ),
        ...plain(
          '-b,--ignore-space-change -W,--ignore-all-space -B,--ignore-blank-lines -t,--expand-tabs',
        ),
        ...plain('--strip-trailing-cr -l,--left-column -s,--suppress-common-lines -d,--minimal'),
        ...plain('-H,--speed-large-files'),
        ...valued('-I,--ignore-matching-lines -w,--width --tabsize'),
        ...running('--diff-program'),
        ...writing('-o,--output'),
      ],
      operands: 'reads',
    }),
    ['diff'],
  ),
  strings: objectReader(
    plain('-a,--all -d,--data -f,--print-file-name -w,--include-all-whitespace -o -h -v,-V'),
    valued('-n,--bytes -t,--radix -T,--target -e,--encoding -U,--unicode -s,--output-separator'),
    plain('- -0 -1 -2 -3 -4 -5 -6 -7 -8 -9'),
  ),
  nm: objectReader(
    plain('-a,--debug-syms -A,-o,--print-file-name -B --no-demangle --recurse-limit -e -h -V'),
    plain('--no-recurse-limit -D,--dynamic -g,--extern-only -j,--just-symbols -l,--line-numbers'),
    plain('-n,-v,--numeric-sort -p,--no-sort -P,--portability -r,--reverse-sort -S,--print-size'),
    plain('-s,--print-armap --quiet --size-sort --special-syms --synthetic -u,--undefined-only'),
    plain('-U,--defined-only -W,--no-weak --with-symbol-versions --without-symbol-versions'),
    maybe('-C,--demangle'),
    valued('-f,--format --ifunc-chars -t,--radix --target --unicode -X'),
    running('--plugin'),
  ),
  objdump: objectReader(
    plain('-a,--archive-headers -f,--file-headers -p,--private-headers -x,--all-headers -D -d'),
    plain('-h,--headers,--section-headers --disassemble-all -S,--source -s,--full-contents -v -i'),
    plain('-g,--debugging -e,--debugging-tags -G,--stabs -L,--process-links -t,--syms --info -H'),
    plain('-T,--dynamic-syms -r,--reloc -R,--dynamic-reloc -EB -EL --file-start-context -w,--wide'),
    plain('-l,--line-numbers -F,--file-offsets --recurse-limit --no-recurse-limit --inlines'),
    plain('-z,--disassemble-zeroes --no-addresses --prefix-addresses --show-raw-insn'),
    plain('--no-show-raw-insn --show-all-symbols --special-syms --dwarf-check'),
    maybe('--disassemble --source-comment -W,--dwarf --ctf --sframe -C,--demangle -U'),
    maybe('--visualize-jumps'),
    valued('-P,--private -b,--target -m,--architecture -j,--section -M,--disassembler-options'),
    valued('--endian -I,--include --unicode --start-address --stop-address --insn-width'),
    valued('--adjust-vma --prefix --prefix-strip --dwarf-depth --dwarf-start --ctf-parent'),
    valued('--disassembler-color'),
  ),
  readelf: objectReader(
    plain(
      '-a,--all -h,--file-header -l,--program-headers,--segments -S,--section-headers,--sections',
    ),
    plain('-g,--section-groups -t,--section-details -e,--headers -s,--syms,--symbols --dyn-syms'),
    plain('--lto-syms --no-demangle --recurse-limit --no-recurse-limit -n,--notes -r,--relocs -v'),
    plain('-u,--unwind -d,--dynamic -V,--version-info -A,--arch-specific -c,--archive-index -H'),
    plain(
      '-D,--use-dynamic -L,--lint,--enable-checks -z,--decompress -P,--process-links -W,--wide',
    ),
    plain('-I,--histogram -T,--silent-truncation'),
    maybe('-C,--demangle -w,--debug-dump --sframe'),
    valued('--sym-base -U,--unicode -x,--hex-dump -p,--string-dump -R,--relocated-dump --ctf'),
    valued('--dwarf-depth --dwarf-start --ctf-parent --ctf-symbols --ctf-strings'),
  ),
  size: objectReader(
    plain('-A -B -G -o -d -x -t,--totals -f --common -h,-H,-? -v,-V'),
    valued('--format --radix --target'),
  ),
  'c++filt': program({
    rows: [
      ...HELP,
      ...plain('-_,--strip-underscore -n,--no-strip-underscore -p,--no-params -i,--no-verbose -v'),
      ...plain('-t,--types -r,--no-recurse-limit -R,--recurse-limit -h'),
      ...valued('-s,--format'),
    ],
    operands: 'nothing',
  }),
  addr2line: program({
    rows: [
      ...HELP,
      ...plain('-a,--addresses -i,--inlines -p,--pretty-print -s,--basenames -f,--functions -h -v'),
      ...plain('-R,--recurse-limit -r,--no-recurse-limit'),
      ...maybe('-C,--demangle'),
      ...valued('-b,--target -j,--section'),
      ...reading('-e,--exe'),
    ],
    operands: 'nothing',
  }),
};
