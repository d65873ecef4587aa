import { describe, expect, it } from 'vitest';
import { GIT_PROGRAMS } from '../../../../src/classify/git/git.js';
import { effectsOf, judged, onlyReads } from '../../../support/judged.js';
import { known, open } from '../../../support/tokens.js';

const git = (line: string) => judged(GIT_PROGRAMS, `git ${line}`.trimEnd());
const classes = (line: string) => effectsOf(git(line)).filter((effect) => !/^read /.test(effect));

describe('only reads', () => {
  it.each([
    '',
    '--version',
    '--exec-path',
    'status',
    'status --porcelain=v2 -b',
    'diff',
    'diff --cached --stat HEAD~1 -- src',
    'diff -U5 HEAD',
    '-c diff.autoRefreshIndex=false diff --no-ext-diff --no-textconv --stat',
    '-c core.fsmonitor=false status',
    '--no-pager log --oneline -3',
    'log -p -1',
    'grep -3 x',
    'format-patch --stdout -2',
    'reflog -5',
    'log -n 5 --format=%h',
    'log -S needle --since yesterday --author=me',
    'log --graph --all --decorate',
    'log --diff-merges=first-parent',
    'show HEAD:a.txt',
    'grep -n x',
    'grep -ne x -- src',
    'ls-files -z --others --exclude-standard',
    'ls-tree -r HEAD',
    'rev-parse --show-toplevel',
    'rev-parse --abbrev-ref HEAD',
    'rev-list --count HEAD',
    'cat-file -p HEAD',
    'cat-file --batch-check',
    'merge-base HEAD HEAD~1',
    'for-each-ref --format=%(refname) --sort=-committerdate',
    'describe --tags --always',
    'check-ignore -v a.txt',
    'shortlog -sn HEAD',
    'blame -L 1,3 a.txt',
    'annotate a.txt',
    'branch',
    'branch -a -vv',
    'branch --list o*',
    'branch --show-current',
    'branch --contains HEAD',
    'branch -r --merged main',
    'tag',
    'tag -l v*',
    'tag -n3 v*',
    'remote',
    'remote -v',
    'remote show -n origin',
    'remote get-url origin',
    'config --get user.email',
    'config user.email',
    'config --list --show-origin',
    'config get user.email',
    'stash list',
    'stash show -p',
    'reflog',
    'reflog show HEAD',
    'worktree list --porcelain',
    'notes show HEAD',
    'symbolic-ref HEAD',
    'bisect log',
    'bundle verify x.bundle',
    'archive --list',
    'hash-object a.txt',
    'fsck',
    'clean -n',
    'clean -nd',
    'apply --check x.patch',
    'format-patch --stdout -1',
    'help -a',
    'version',
    'commit -h',
    'grep -h',
    '--literal-pathspecs ls-files',
  ])('git %s', (line) => expect(classes(line)).toEqual([]));
});

describe('changes the repository', () => {
  it.each([
    'add a.txt',
    'commit -m x',
    'commit -am x',
    'checkout -- a.txt',
    'switch -c new',
    'restore a.txt',
    'reset --hard',
    'clean -fd',
    'branch new',
    'branch -d old',
    'branch -D old',
    'branch -vD old',
    'branch -f main HEAD~5',
    'branch -m old older',
    'tag v9',
    'tag -d v1',
    'stash',
    'stash push',
    'stash drop',
    'reflog expire --expire=now --all',
    'reflog delete HEAD@{0}',
    'worktree prune',
    'bisect start',
    'gc -q',
    'hash-object -w a.txt',
    'update-index --assume-unchanged a.txt',
    'fsck --lost-found',
    'notes add -m x',
    'describe --dirty',
    'symbolic-ref HEAD refs/heads/x',
    'merge-tree HEAD old',
    'apply x.patch',
    'merge side',
    'cherry-pick side',
    'rebase main',
    'revert --no-edit HEAD',
    'rerere',
  ])('git %s', (line) => expect(classes(line)).toContain('write'));

  it('where an option says it writes', () => {
    expect(classes('diff --output=out.txt')).toEqual(['write out.txt']);
    expect(classes('log -p -1 --output out.txt')).toEqual(['write out.txt']);
    expect(classes('diff --no-index --output=out.txt a.txt b.txt')).toEqual(['write out.txt']);
    expect(classes('fast-export --export-marks=marks.txt HEAD')).toEqual(['write marks.txt']);
    expect(classes('format-patch -o out HEAD')).toContain('write out');
    expect(classes('worktree add ../wt')).toContain('write ../wt');
  });
});

describe('cannot be told, or starts programs', () => {
  it.each([
    '-c alias.st=!x st',
    '-c core.pager=less log',
    '-c core.fsmonitor=./x status',
    '-c diff.autoRefreshIndex=true diff',
    '-c diff.autoRefreshIndex diff',
    '-c diff.external=x diff',
    '-c log.showSignature=true log',
    '-c format.pretty=%G? log',
    '-c branch.sort=signature branch',
    '--config-env=diff.external=EVIL diff',
    '--exec-path=./bin status',
    '--git-dir=evil.git status',
    '--git-dir evil.git status',
    '--work-tree=/ status',
    '--bare log',
    '-p log',
    '--paginate log',
    'st',
    'lg -5',
    'diff --ext-diff',
    'log --textconv',
    'log --format=%G?',
    'log --format=%+GS',
    'log --show-signature',
    'log --remerge-diff',
    'log --diff-merges=remerge',
    'log --pretty=tformat:%GK',
    'for-each-ref --format=%(signature:grade)',
    'for-each-ref --sort=signature',
    'shortlog --group=format:%GS',
    'grep -O x',
    'grep -Ovim x',
    'grep -nO x',
    'grep --open-files-in-pager=./evil.sh x',
    'grep --textconv x',
    'cat-file --filters HEAD:a.txt',
    'cat-file --textconv HEAD:a.txt',
    'branch --del old',
    'apply --check -4 x.patch',
    'branch -5',
    'branch --edit-description',
    'branch -u old',
    'branch --unset-upstream',
    'diff --outpu=x',
    'commit',
    'commit --amend',
    'commit --fixup=amend:HEAD',
    'verify-commit HEAD',
    'tag -v v1',
    'tag -s v1',
    'tag --sort=refname v9',
    'merge -s ./evil x',
    'config --add a.b c',
    'config a.b c',
    'config --file other.cfg a.b c',
    'config -e',
    'config user.name --global',
    'remote add evil ./x',
    'remote set-url origin ./x',
    'remote -v add x y',
    'submodule init',
    'rebase -x x HEAD~1',
    'rebase -i HEAD~1',
    'difftool -y -x ./evil.sh',
    'archive HEAD',
    'help status',
    '--help log',
    'filter-branch --tree-filter x',
    'for-each-repo x',
    'interpret-trailers a.txt',
    'bisect run x',
    'stash -p',
    'add -p',
    'sparse-checkout set x',
  ])('git %s', (line) => expect(classes(line)).toContain('unknown'));
});

describe('by its class', () => {
  it.each([
    ['fetch', 'network'],
    ['pull', 'network'],
    ['push --dry-run', 'network'],
    ['clone https://h/r', 'network'],
    ['ls-remote --upload-pack=x .', 'network'],
    ['remote show origin', 'network'],
    ['remote update', 'network'],
    ['submodule update --init', 'network'],
    ['config --global user.name x', 'persistence'],
    ['config set --global user.name x', 'persistence'],
    ['maintenance start', 'persistence'],
    ['credential fill', 'secrets'],
  ])('git %s: %s', (line, kind) => expect(classes(line)).toContain(kind));
});

describe('words that are not known', () => {
  const args = (line: string, ...rest: Parameters<typeof open>[]) =>
    onlyReads(
      judged(
        GIT_PROGRAMS,
        `git ${line}`,
        rest.map((each) => open(...each)),
      ),
    );

  it('may become options', () => {
    expect(args('log', ['', true])).toBe(false);
    expect(args('log', [''])).toBe(false);
    expect(args('log', ['--'])).toBe(false);
    expect(args('log', ['--output='])).toBe(false);
  });
  it('may become anything after the dashes, too', () => {
    expect(args('diff --', ['', true])).toBe(false);
    expect(args('diff --', ['src/', true])).toBe(true);
    expect(args('diff --', [''])).toBe(true);
  });
  it('are harmless where they cannot be options', () => {
    expect(args('log', ['src/', true])).toBe(true);
    expect(args('log', ['--author='])).toBe(true);
    expect(args('show', ['HEAD~'])).toBe(true);
  });
  it('are no format, setting, place or subcommand', () => {
    expect(args('log', ['--format='])).toBe(false);
    expect(args('-c', ['core.pager='])).toBe(false);
    expect(args('-C', ['sub'])).toBe(false);
    expect(args('', ['lo'])).toBe(false);
  });
});

describe('paths', () => {
  it('are read where they may show a file', () => {
    expect(effectsOf(git('diff --no-index ../x ../y'))).toEqual(['read ../x', 'read ../y']);
    expect(effectsOf(git('show HEAD:.env'))).toEqual(['read HEAD:.env', 'read .env']);
    expect(effectsOf(git('show :0:.env'))).toContain('read .env');
    expect(effectsOf(git('blame --contents ../x a'))).toContain('read ../x');
    expect(effectsOf(git('grep -f ../x'))).toEqual(['read ../x']);
    expect(effectsOf(git('grep /etc/ src'))).toEqual(['read src']);
    expect(effectsOf(git('grep -e /etc/ src'))).toEqual(['read src']);
    expect(effectsOf(git('config --file ../x --list'))).toEqual(['read ../x']);
    expect(effectsOf(git('log -- :(exclude)../x :/ :!y'))).toEqual(['read ../x', 'read y']);
  });
  it('start where -C leads', () => {
    expect(effectsOf(git('-C sub log --oneline -1'))).toEqual(['read sub']);
    expect(effectsOf(git('-C sub -C ../x diff -- a'))).toEqual([
      'read sub/../x',
      'read sub/../x/a',
    ]);
    expect(effectsOf(git('-C sub -C /x diff --output=o'))).toEqual(['read /x', 'write /x/o']);
    expect(effectsOf(git('-C /x checkout -- a'))).toEqual(['write /x', 'write', 'read /x/a']);
  });
});

describe('words for rules', () => {
  const canonical = (line: string) => {
    const judgement = git(line);
    return `${judgement.canonical?.map(({ value }) => value).join(' ')}${
      judgement.faithful === false ? ' (not faithful)' : ''
    }`;
  };
  it('are without the options before the subcommand', () => {
    expect(canonical('-C p --no-pager push --force')).toBe('git push --force');
    expect(canonical('-c color.ui=never log -1')).toBe('git log -1');
  });
  it('do not speak for what changes the subcommand', () => {
    expect(canonical('-c core.sshCommand=x push')).toBe('git push (not faithful)');
    expect(canonical('--git-dir=x push')).toBe('git push (not faithful)');
    expect(canonical('--unheard-of push')).toBe('git push (not faithful)');
  });
});

it('is total', () => {
  for (const args of [[], ['--'], ['-'], ['-c'], ['-C'], ['--', 'log'], ['constructor'], ['']]) {
    expect(() => judged(GIT_PROGRAMS, 'git', args.map(known))).not.toThrow();
  }
});
