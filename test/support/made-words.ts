/**
 * Words of commands: what may stand after a program, as an option's value, before and around a command. Data.
 * @module
 */

import type { Dice } from './dice.js';

/** Names in the repository that `trapped-repository.ts` lays out, and some that are not there. */
const FILES =
  'README.md notes.txt data.json src/a.ts src sub sub/inner.txt . .. ./-i -- - a.tar a.tar.gz a.zip notes.gz ' +
  'notes.xz notes.bz2 script.sh names missing /dev/null /etc/hostname /usr/include sub/../notes.txt "$PWD/notes.txt" ' +
  '*.txt src/* [n]otes.txt {README.md,notes.txt} ~+/notes.txt .gitattributes .git/HEAD .git/config';
const WORDS = `a x 1 2 3 10 0 1,2 1-3 -1 +1 '' 'a b' $'a\\tb' a=b %s %H name : , / % utf-8 always never auto
  none short all short,long 1k 50% yesterday 2020-01-01 "$x" $((1+2)) "\${#x}" \${x:-a} \${x:+b}`;
/** Each leads elsewhere once the shell or the program has read it. */
const MISCHIEF = `* -i --output=made -o -omade ./ls ./trap $x -* {-i,notes.txt} made sub/made $(echo -delete) -delete
  -exec ./trap ';' "$(./trap)" \`./trap\` <(./trap) w\\ made \${x@P} --pre=./trap --compress-program=./trap --ext-diff
  --textconv --open-files-in-pager=./trap -O./trap @made "a[\\$(./trap)]"`;
const REVISIONS = `HEAD HEAD~1 main other HEAD^ main..other main...other v1 v2 signed stash@{0} @ HEAD:notes.txt
  HEAD^{tree} :notes.txt missing refs/heads/main`;
const FORMATS = `%H '%h %s' %an oneline short raw fuller reference '%(refname)' '%(objectname) %(refname:short)' %G?
  '%(signature)' format:%s 'tformat:%h%x00%d' %GK '%(trailers:key=a)' '%C(red)%h' '%-G?' '%(contents:signature)'`;

/** Splits at blanks outside of quotes and brackets. */
function listed(text: string): readonly string[] {
  return text.match(/(?:'[^']*'|"[^"]*"|`[^`]*`|\$\([^)]*\)|<\([^)]*\)|\\ |\S)+/g) ?? [];
}

export const POOL = {
  file: listed(FILES),
  word: listed(WORDS),
  mischief: listed(MISCHIEF),
  revision: listed(REVISIONS),
  format: listed(FORMATS),
};

const SED = [
  's/a/b/',
  '1,3p',
  '$=',
  '/a/d',
  'y/ab/cd/',
  's/a/b/gp',
  ';p;q',
  '1{p;q}',
  's/a/b/w made',
  'w made',
  '1e ./trap',
  's/a/.\\/trap/e',
  'r notes.txt',
  'R names',
  'w /dev/stdout',
  's/x/y/w/dev/null',
  'W made',
  'e',
  '\\,a,p',
  'a\\\nw made',
  'l 5',
  'b x;:x',
  's/a/b/;w made',
  '}w made',
];

const AWK = [
  '{print $1}',
  'NR==1',
  'BEGIN{print length("a")}',
  '/a/{n++}END{print n}',
  '{printf "%s\\n", $2}',
  '{print > "made"}',
  '{print | "./trap"}',
  'BEGIN{system("./trap")}',
  'BEGIN{"./trap" | getline x}',
  '{print > "/dev/stderr"}',
  'BEGIN{while((getline line < "notes.txt")>0) print line}',
  '$1 > 2',
  '{print ($1 > 2)}',
  '{print $1 > $2}',
  'function f(x){return x}{print f($1)}',
  '{gsub(/a/,"b");print}',
  'BEGIN{printf "a" >> "made"}',
];

const JQ = ['.', '.a', 'keys', "'.a[]?'", "'map(.b)'", "'to_entries[]'", "'input'", 'env', '$ENV'];

const FIND =
  `-name|*.txt -type|f -type|d -maxdepth|2 -mindepth|1 -print -print0 -ls -size|+0 -newer|notes.txt -mtime|-1
  -perm|644 -path|./src/* -prune -empty -o -not ! -a -quit -printf|%p\\n -iname|A* -regex|.*a -exec|cat|{}|;
  -exec|grep|a|{}|+ -execdir|ls|{}|; -exec|./trap|; -exec|touch|{}|; -delete -fprint|made -fprintf|made|%p -fls|made
  -ok|rm|{}|; -execdir|./trap|; -exec|sh|-c|./trap|; -exec|wc|-l|{}|+ -fprint|/dev/null -newermt|2020-01-01 -user|root
  -files0-from|names -samefile|notes.txt -execdir|cat|{}|+ -exec|sed|-n|1p|{}|; -exec|sort|-o|{}|{}|;`
    .split(/\s+/)
    .filter((text) => text !== '')
    .map((text) => text.split('|'));

/** What stands after the options, where that is more than files. Words as the shell reads them. */
export const OPERANDS: Readonly<Record<string, (dice: Dice) => readonly string[]>> = {
  sed: (dice) => [quoted(dice.of(SED)), ...files(dice, 2)],
  awk: (dice) => [quoted(dice.of(AWK)), ...files(dice, 2)],
  mawk: (dice) => [quoted(dice.of(AWK)), ...files(dice, 2)],
  find: (dice) => [
    ...files(dice, 1),
    ...dice.some(3, () => dice.of(FIND).map((word) => quoted(word))).flat(),
  ],
  jq: (dice) => [
    dice.of(JQ),
    ...dice.some(1, () => dice.of(['data.json', 'notes.txt', 'missing'])),
  ],
  grep: (dice) => [dice.of(['a', "'^x'", "'[ab]'", 'one']), ...files(dice, 2)],
  tr: (dice) => [dice.of(['a', 'a-z', "'\\n'"]), dice.of(['b', 'A-Z', "' '"])],
  test: (dice) => condition(dice),
  printf: (dice) => [dice.of(["'%s\\n'", 'a', '%d', '%q', '-v']), ...words(dice, 2)],
  echo: (dice) => words(dice, 3),
  expr: (dice) => [dice.of(['1', 'a']), dice.of(['+', ':', '=', "'*'"]), dice.of(['2', 'b', 'a'])],
  seq: (dice) => [dice.of(['1', '3', '1 2', '1 1 5'])],
  tar: (dice) => [
    dice.of(['-tf', 'tf', '-tvf', '--list --file', '-xOf', '-df', '-tzf', '-xf', '-cf', '-cOf']),
    dice.of(['a.tar', 'a.tar.gz', '-', 'made', '/dev/null']),
    ...files(dice, 1),
  ],
  unzip: (dice) => [dice.of(['-l', '-p', '-t', '-v', '-Z', '']), dice.of(['a.zip', 'missing'])],
  uniq: (dice) => files(dice, dice.chance(0.15) ? 2 : 1),
  xxd: (dice) => files(dice, dice.chance(0.15) ? 2 : 1),
};

export function condition(dice: Dice): readonly string[] {
  const file = (): string => dice.of(POOL.file);
  return dice.of([
    [dice.of(['-f', '-d', '-e', '-r', '-s', '-L', '-x']), file()],
    [file(), dice.of(['-nt', '-ot', '-ef', '=', '!=']), file()],
    [dice.of(['-z', '-n', '-v', '-R']), dice.of(["'a[$(./trap)]'", 'x', '"$x"', 'a'])],
    [dice.of(POOL.word), dice.of(['-eq', '-lt', '=']), dice.of(POOL.word)],
  ]);
}

export function quoted(text: string): string {
  return /^[\w./+%:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function files(dice: Dice, most: number): readonly string[] {
  return dice.some(most, () => dice.of(dice.chance(0.07) ? POOL.mischief : POOL.file));
}

function words(dice: Dice, most: number): readonly string[] {
  return dice.some(most, () => dice.of(dice.chance(0.07) ? POOL.mischief : POOL.word));
}

export function optionValue(dice: Dice): string {
  const draw = dice.next();
  if (draw < 0.35) return `${dice.below(20)}`;
  if (draw < 0.65) return dice.of(POOL.word);
  if (draw < 0.85) return dice.of(POOL.file);
  return dice.of(draw < 0.96 ? POOL.format : POOL.mischief);
}

/** What means something to the shell, or to a program within quotes, wherever it stands. */
export const PIECES = [
  ...`'"\\\`$(){}[]<>|&;#!*?~=-,:^%@ \t\n\r`,
  '$(./trap)',
  '`./trap`',
  ';./trap;',
  '\n./trap\n',
  '|./trap|',
  '&./trap&',
  ' ./trap ',
  '>made ',
  ' >made',
  '>>made;',
  '<(./trap)',
  "$'",
  '$"',
  '${',
  '$((',
  '))',
  '<<E\n',
  '\nE\n',
  '<<<',
  '\\\n',
  ' -i ',
  ' --output=made ',
  ' -o made ',
  ' -- ',
  ' -delete ',
  ' w made\n',
  '\nw made\n',
  'e ./trap\n',
  '|"./trap"',
  '>"made"',
  'system("./trap")',
  ' $x ',
  ' * ',
  '${x:=-i}',
  '${x:-$(./trap)}',
  '$((a[$(./trap)]))',
  ';;',
  ' #',
  '\u00a0',
  '\u2028',
  '\f',
  '\v',
  ' !',
  ' {',
  '}',
  "'\\''",
] as const;

/** Options of git itself. */
export const BEFORE_SUBCOMMAND =
  `--no-pager -P --no-optional-locks --literal-pathspecs -C|sub -C|. -c|color.ui=always -c|core.pager=cat
  -c|diff.context=1 -c|core.pager=./trap -p --git-dir=.git -c|diff.external=./trap -c|log.showSignature=true -c|pager.log=false
  -c|core.fsmonitor=./trap --exec-path=. -c|alias.log=!./trap -c|diff.algorithm=patience -c|core.fsmonitor=false
  -c|diff.autoRefreshIndex=true -c|diff.autoRefreshIndex=no -c|core.untrackedCache=true
  -c|status.submoduleSummary=true -c|core.autocrlf=input -c|core.checkStat=minimal -c|branch.sort=-committerdate
  -c|format.pretty=%G? -c|log.follow=true -c|diff.submodule=log -c|column.ui=always -c|submodule.recurse=true
  -c|core.commitGraph=true -c|core.preloadIndex=false -c|core.whitespace=tab-in-indent -c|core.fileMode=false
  -c|core.logAllRefUpdates=always -c|gc.auto=1 -c|core.splitIndex=true -c|grep.threads=2 -c|core.ignoreCase=true`
    .split(/\s+/)
    .filter((text) => text !== '')
    .map((text) => text.replace('|', ' '));

/** What stands before a command and starts it, or changes what it finds. */
export const WRAPPERS =
  `env|nice|nice -n 5|command|env A=b|env -i|stdbuf -oL|timeout 1|A=b|LC_ALL=C|time|!|\\|env -u A|
  env LC_ALL=C|command -p|ionice -c3|env -C sub|env PATH=.:/usr/bin|PATH=.|GIT_EXTERNAL_DIFF=./trap|env GIT_PAGER=./trap|
  xargs <names|xargs -n1 <names|xargs -I{} <names|env -S|TMPDIR=.|exec|builtin|env GIT_OPTIONAL_LOCKS=1|command --|
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=./trap|A=$(./trap)|COLUMNS=80|TZ=UTC`
    .split('|')
    .map((each) => each.trim());

/** Redirections that change no file. */
export const SINKS =
  `2>/dev/null|>/dev/null|2>&1|>&2|&>/dev/null|</dev/null|<notes.txt|>>/dev/null|2>&-|<<<a|<<'E'\na\nE\n|
  3</dev/null|<<E\n$x\nE\n|<<-E\n\ta\n\tE\n|< <(echo a)|1>/dev/stderr|>/dev/fd/1`
    .split('|')
    .map((each) => each.trimStart());
/** Redirections that do, or start something. */
export const WRITTEN = [
  '>made',
  '>>notes.txt',
  '&>made',
  '>|made',
  '<>made',
  '>$x',
  '> >(./trap)',
  '<<E\n$(./trap)\nE\n',
  '2>"$PWD"/made',
  '>/dev/../$PWD/made',
  '>sub/../made',
  '<<E\n`./trap`\nE\n',
];

/** Commands that change what the ones after them mean. */
export const PRELUDES =
  `PATH=.:$PATH|export PATH=$PWD|alias ls=./ls|ls() { ./ls; }|x=-delete|export GIT_EXTERNAL_DIFF=./trap|IFS=x|
  set -- -i|cd sub|shopt -s expand_aliases|hash -p ./cat cat|export BASH_ENV=./trap|enable -n echo|exec 3>made|set -f|
  set -e|cd ..|unset GIT_OPTIONAL_LOCKS|export GIT_PAGER=./trap|trap ./trap EXIT|shopt -s extglob|x=a y=b|read -r x <names|
  declare -i x|local x|: \${x:=a}|set -o pipefail|cd "$PWD"|cd - |pushd sub|x=(a b)|typeset -n x=PATH|x=./trap|printf -v x a|
  umask 022|ulimit -n 100|mapfile -t x <names|command_not_found_handle() { ./trap; }|export LESSOPEN='|./trap %s'|
  export TAR_OPTIONS=--to-command=./trap|((x=1))|let x=1|source ./trap|. ./trap|export LD_PRELOAD=./trap`
    .split(/\|\s*(?!\.\/trap %s)/)
    .map((each) => each.trim());
