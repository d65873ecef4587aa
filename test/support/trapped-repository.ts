/**
 * A repository in which much names programs: its configuration, its attributes, its hooks, files that are called as programs
 * are. Each of them leaves a mark when it is started, outside of the repository.
 * @module
 */

/** Programs that the configuration names, and under which setting. */
const NAMED: readonly (readonly [string, string])[] = [
  ['pager', 'core.pager'],
  ['pager', 'pager.log'],
  ['pager', 'pager.diff'],
  ['pager', 'pager.branch'],
  ['editor', 'core.editor'],
  ['editor', 'sequence.editor'],
  ['signature', 'gpg.program'],
  ['ssh', 'core.sshCommand'],
  ['askpass', 'core.askPass'],
  ['credential', 'credential.helper'],
  ['external-diff', 'diff.external'],
  ['external-diff', 'diff.trap.command'],
  ['textconv', 'diff.trap.textconv'],
  ['filter', 'filter.trap.clean'],
  ['filter', 'filter.trap.smudge'],
  ['filter-of-output', 'interactive.diffFilter'],
  ['tool', 'difftool.trap.cmd'],
  ['tool', 'mergetool.trap.cmd'],
  ['merge', 'merge.trap.driver'],
  ['manual', 'man.trap.cmd'],
  ['browser', 'browser.trap.cmd'],
  ['trailer', 'trailer.a.command'],
  ['references', 'core.alternateRefsCommand'],
  ['pack', 'uploadpack.packObjectsHook'],
  ['proxy', 'core.gitProxy'],
  ['tar', 'tar.tar.gz.command'],
  ['filter-of-mail', 'sendemail.smtpServer'],
];

const HOOKS = `pre-commit post-commit post-checkout post-index-change pre-push reference-transaction
  fsmonitor-watchman post-merge pre-rebase commit-msg`.split(/\s+/);

/** Files that are called as programs are, or begin as options do. */
const PLANTED = 'ls cat git grep sort sed head env sh bash awk find less'.split(' ');

/**
 * The script, for bash in an empty directory, that lays it out. `marks`: an absolute directory outside of it; a program called
 * X leaves `marks/X`.
 */
export function trappedRepository(marks: string): string {
  const trap = (name: string): string => `'${marks}/programs/${name}'`;
  const programs = [...new Set([...NAMED.map(([name]) => name), 'alias', 'hook'])];
  return `set -e
    unset GIT_OPTIONAL_LOCKS
    mkdir -p '${marks}/programs'
    for name in ${programs.join(' ')}; do
      printf '#!/bin/sh\\necho ran >> ${marks}/%s\\ncat "$@" 2>/dev/null </dev/null\\ntrue\\n' "$name" > '${marks}/programs'/"$name"
    done
    chmod 755 '${marks}/programs'/*
    git init -q -b main .
    mkdir src sub
    printf 'one\\ntwo\\nx a\\n' > notes.txt; printf 'a\\n' > README.md; printf '{"a":[1,{"b":2}]}' > data.json
    printf 'let a = 1;\\n' > src/a.ts; printf 'inner a\\n' > sub/inner.txt; printf 'notes.txt\\nREADME.md\\n' > names
    printf '#!/bin/sh\\necho ran >> ${marks}/script\\n' > script.sh
    printf '#!/bin/sh\\necho ran >> ${marks}/trap\\n' > trap
    for name in ${PLANTED.join(' ')}; do printf '#!/bin/sh\\necho ran >> ${marks}/planted\\n' > "$name"; done
    chmod 755 trap script.sh ${PLANTED.join(' ')}
    cp trap sub/trap; cp ls sub/ls
    touch -- -i --output=x -delete -ok
    gzip -k notes.txt; xz -k notes.txt 2>/dev/null || true; bzip2 -k notes.txt 2>/dev/null || true
    tar -cf a.tar README.md sub; tar -czf a.tar.gz README.md
    zip -q a.zip README.md notes.txt 2>/dev/null || true
    git add -A; git commit -qm 'first a'
    git checkout -qb other; printf 'other\\n' >> README.md; git mv data.json moved.json; git commit -qam other; git tag v1
    git checkout -q main; printf 'three\\n' >> notes.txt; git commit -qam 'second

a: b'
    git merge -q other -m merged; git mv moved.json data.json; git commit -qm back; git tag -am annotated v2
    git notes add -m note; printf 'aside\\n' >> README.md; git stash -q
    signature() { printf '%s\\n' '-----BEGIN PGP SIGNATURE-----' '' 'iQ==' '-----END PGP SIGNATURE-----'; }
    commit=$(git cat-file commit HEAD | { while IFS= read -r line; do
        [ -n "$line" ] || break; printf '%s\\n' "$line"; done
        signature | sed '1s/^/gpgsig /;2,$s/^/ /'; printf '\\nsigned\\n'; } | git hash-object -t commit -w --stdin)
    git update-ref refs/heads/signed "$commit"
    tag=$({ printf 'object %s\\ntype commit\\ntag signed-tag\\ntagger a <a@example.invalid> 1 +0000\\n\\nsigned\\n' "$commit"
        signature; } | git hash-object -t tag -w --stdin)
    git update-ref refs/tags/signed-tag "$tag"
    git update-ref refs/heads/main "$commit"; git reset -q
    git remote add origin ${JSON.stringify(`ext::${marks}/programs/ssh`)}
    printf '*.ts diff=trap\\nsub/* filter=trap\\n*.json merge=trap\\n' > .git/info/attributes
    for hook in ${HOOKS.join(' ')}; do cp ${trap('hook')} .git/hooks/"$hook"; done
    ${NAMED.map(([name, key]) => `git config ${key} ${trap(name)}`).join('\n')}
    git config alias.mine '!${marks}/programs/alias'; git config alias.st status
    git config diff.tool trap; git config merge.tool trap; git config man.viewer trap; git config web.browser trap
    printf 'changed a\\n' >> notes.txt; printf 'let a = 2;\\n' > src/a.ts; printf 'new\\n' > untracked
    printf 'staged\\n' >> README.md; git -c core.hooksPath=/dev/null add README.md
    touch -d 2001-01-01 names a.tar
    rm -f '${marks}'/[a-z]*-* '${marks}'/hook '${marks}'/filter '${marks}'/pager 2>/dev/null || true`;
}
