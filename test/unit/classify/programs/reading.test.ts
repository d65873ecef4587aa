import { describe, expect, it } from 'vitest';
import { READING_PROGRAMS } from '../../../../src/classify/programs/reading.js';
import { effectsOf, judged, onlyReads } from '../../../support/judged.js';
import { known, open } from '../../../support/tokens.js';

const does = (line: string) => effectsOf(judged(READING_PROGRAMS, line)).join(', ');

describe('what programs read and write, by their words', () => {
  it.each([
    ['cat a -n b', 'read a, read b'],
    ['cat -', ''],
    ['cat -- -n', 'read -n'],
    ['head -5 a', 'read a'],
    ['tail -n 3 -f a', 'read a'],
    ['wc -l --files0-from=list', 'read list, read '],
    ['ls', 'read .'],
    ['ls -R sub', 'read sub'],
    ['du -sh', 'read .'],
    ['sort -k2,2n -t, a', 'read a'],
    ['sort -ro out a', 'write out, read a'],
    ['sort --out out a', 'write out, read a'],
    ['sort --compress-prog x a', 'unknown, read a'],
    ['sort -T dir a', 'write dir, read a'],
    ['uniq a', 'read a'],
    ['uniq -c a out', 'read a, write out'],
    ['uniq -5 a out', 'read a, write out'],
    ['shuf -e a b -o out', 'write out'],
    ['xxd -l 4 a', 'read a'],
    ['xxd -l4 a out', 'read a, write out'],
    ['xxd -r a out', 'read a, write out'],
    ['ptx -G a out', 'read a, write out'],
    ['tr a b', ''],
    ['iconv -f x -o out a', 'write out, read a'],
    ['split a', 'read a, write xaa'],
    ['split a p', 'read a, write paa'],
    ['split --filter=cat a', 'shell cat, read a'],
    ['csplit -f p a 1', 'read a, write p00'],
    ['date +%s', ''],
    ['date -r a', 'read a'],
    ['date --s=x', 'host-state'],
    ['date 010100002030', 'host-state'],
    ['hostname', ''],
    ['hostname x', 'host-state'],
    ['hostname -F x', 'host-state'],
    ['test -f a -a -d b', 'read a, read -d, read b'],
    ['[ a -nt b ]', 'read a, read b'],
    ['test -v a[$(x)]', 'unknown'],
    ['test -v a', ''],
    ['tput cols', ''],
    ['tput init', 'unknown'],
    ['stty -a', ''],
    ['stty raw', 'unknown'],
    ['mkdir -p a b', 'write a, write b'],
    ['rm -rf /', 'write /'],
    ['touch -r a b', 'read a, write b'],
    ['tee -a out', 'write out'],
    ['dd if=a of=out bs=1', 'read a, write out'],
    ['chmod -x a', 'write a'],
    ['chmod 755 a', 'write a'],
    ['chmod --reference=a b', 'read a, write b'],
    ['chown u:g a', 'write a'],
    ['cp a dir', 'read a, write dir, write dir/a'],
    ['cp -t dir a/b', 'read a/b, write dir, write dir/b'],
    ['cp -T a b', 'read a, write b'],
    ['mv a b', 'read a, write a, write b, write b/a'],
    ['ln -s ../x', 'read ../x, write x'],
    ['ln a b', 'read a, write b, write b/a'],
    ['install -d a', 'write a'],
    ['install --strip-program=x a b', 'unknown, read a, write b, write b/a'],
    ['mktemp', 'write /tmp/tmp.XXXXXXXXXX'],
    ['mktemp -u', ''],
    ['mktemp -p dir', 'write dir'],
    ['mktemp a.XXX', 'write a.XXX'],
    ['mknod x b 8 0', 'write x, host-state'],
    ['grep -rn x', 'read .'],
    ['grep x a b', 'read a, read b'],
    ['grep -e x a', 'read a'],
    ['grep -f pats a', 'read pats, read a'],
    ['rg x', 'read .'],
    ['rg --files src', 'read src'],
    ['rg --pre=x y', 'unknown, read .'],
    ['rg -z x a', 'unknown, read a'],
    ['rg --hostname-bin x y', 'unknown, read .'],
    ['ag --pager x y', 'unknown, read .'],
    ['fd -e ts', 'read .'],
    ['fd . -X rm', 'read ., run rm'],
    ['fd -Hx rm ; src', 'read ., run rm'],
    ['fd -E -x ls -X rm', 'read ., run rm'],
    ['fd -xrm', 'unknown, read .'],
    ['diff a b', 'read a, read b'],
    ['diff -l a b', 'unknown, read a, read b'],
    ['diff3 --diff-prog x a b c', 'unknown, read a, read b, read c, run diff'],
    ['sdiff -o out a b', 'write out, read a, read b, run diff'],
    ['cmp a b 1 2', 'read a, read b'],
    ['nm --plugin x a', 'unknown, read a'],
    ['strings @a', 'unknown'],
    ['less a', 'read a'],
    ['less -Nolog a', 'write log, read a'],
    ['less +!x a', 'read a, unknown'],
    ['less +G a', 'read a'],
    ['less -b5olog a', 'read a, unknown'],
    ['less -px$olog a', 'read a, unknown'],
    ['less -k x a', 'unknown, read a'],
    ['bat --pager x a', 'unknown, read a'],
    ['man ls', ''],
    ['man -P x ls', 'unknown'],
    ['man --html=x ls', 'unknown'],
    ['man ./ls.1', 'unknown'],
    ['tree -L 2', 'read .'],
    ['tree -o out', 'write out, read .'],
    ['tree -Lo 2 out', 'unknown, read 2, read out'],
    ['tree -R', 'unknown, read .'],
    ['file a', 'read a'],
    ['file -C -m x', 'unknown, read x'],
    ['file -z a', 'unknown, read a'],
    ['jq .a a.json', 'read a.json'],
    ['jq -f prog a.json', 'read prog, read a.json'],
    ['jq --slurpfile a b.json .a', 'read b.json'],
    ['jq --args .a b', ''],
    ['jq -n env', 'secret-like'],
    ['jq -n env.PATH', ''],
    ['jq -n $ENV.API_TOKEN', 'secret-like'],
    ['jq .env a', 'read a'],
    ['yq .a a.yml', 'read a.yml, run jq .'],
    ['yq -i .a=1 a.yml', 'write a.yml, run jq .'],
    ['yq --in-pla .a=1 a.yml', 'write a.yml, run jq .'],
    ['yq -s .a a.yml', 'unknown, read a.yml, run jq .'],
    ['xmllint --xpath //a a.xml', 'read a.xml'],
    ['xmllint -output o a.xml', 'write o, read a.xml'],
    ['xmllint --noent a.xml', 'unknown, read a.xml'],
    ['xmllint http://h/a', 'network'],
    ['tar tf a.tar', 'read a.tar'],
    ['tar -tzf a.tgz', 'read a.tgz, run gzip -d -c'],
    ['tar tf host:a.tar', 'network'],
    ['tar cf a.tar b', 'write a.tar, read b'],
    ['tar xf a.tar', 'read a.tar, write .'],
    ['tar -C d -xf a.tar', 'read a.tar, write d'],
    ['tar xOf a.tar b', 'read a.tar'],
    ['tar -tf a.tar -I x', 'unknown, read a.tar'],
    ['tar -tf a.tar --checkpoint-action=exec=x', 'unknown, read a.tar'],
    ['tar -tf a.tar --index-file=x', 'write x, read a.tar'],
    ['tar -C /home/u -cf - .ssh', 'read .ssh, read /home/u/.ssh'],
    ['unzip -l a.zip', 'read a.zip'],
    ['unzip a.zip -d out', 'read a.zip, write out'],
    ['unzip -p- a.zip', 'unknown, read a.zip'],
    ['zip -q a b', 'write a.zip, read b'],
    ['zip a b -T', 'unknown, write a.zip, read b'],
    ['gzip -l a.gz', 'read a.gz'],
    ['gzip -d a.gz', 'write a.gz, write a'],
    ['xz -t -d a.xz', 'write a.xz, write a, write a.xz.lzma'],
    ['xz -dt a.xz', 'read a.xz'],
    ['zstd -dc --rm a.zst', 'unknown, read a.zst'],
    ['zcat a.gz', 'read a.gz, run gzip -c -d'],
    ['tar tf a.txz', 'read a.txz, run xz -d -c'],
    ['less -x4olog a', 'read a, unknown'],
    ['egrep x a', 'run grep x a'],
    ['zgrep x a', 'run gzip -c -d -f, run grep x a'],
    ['ps aux', ''],
    ['ps auxe', 'secret-like'],
    ['ps -o pid,comm -e', ''],
    ['lsof -ni :80', 'read :80'],
    ['lsof -i :80', 'network, read :80'],
    ['netstat -tln', ''],
    ['netstat -r', 'network'],
    ['ss -tr', 'network'],
    ['lsof +m x', 'read x, unknown'],
    ['lsof -Db', 'unknown'],
    ['ss -tlnp', ''],
    ['ss -tn state established ( dport = :443 or dst 10.0.0.1 )', ''],
    ['ss -tn dst a1.de', 'network'],
    ['lsof -ni @feed.cafe', 'read @feed.cafe, network'],
    ['lsof -ni @127.0.0.1:80', 'read @127.0.0.1:80'],
    ['arp -n evil.example', 'network'],
    ['ss --ki dst h', 'host-state, network'],
    ['ss -D out', 'write out'],
    ['ip -br a', ''],
    ['ip addr show dev lo', ''],
    ['ip link set lo down', 'host-state'],
    ['ip -batch x', 'unknown, unknown'],
    ['ip netns exec n sh', 'unknown'],
    ['ifconfig lo', ''],
    ['ifconfig lo down', 'host-state'],
    ['route -n', ''],
    ['route add default', 'host-state'],
    ['sysctl -a', ''],
    ['sysctl vm.swappiness', ''],
    ['sysctl vm.swappiness=1', 'host-state'],
    ['sysctl --sys', 'host-state'],
    ['dmesg -T', ''],
    ['dmesg -C', 'host-state'],
    ['journalctl -u x -n 5', ''],
    ['journalctl --vacuum-t 1d', 'host-state'],
    ['journalctl --cursor-file=x', 'write x'],
    ['getent passwd root', 'read /etc/passwd'],
    ['getent shadow', 'read /etc/shadow'],
    ['getent hosts h', 'network'],
    ['pmap -n 1', 'unknown'],
    ['locate -d db x', 'read db'],
    ['openssl version -a', ''],
    ['openssl x509 -in a -noout -text', 'read a'],
    ['openssl enc -out out', 'unknown'],
    ['openssl x509 -in a -out b', 'read a, unknown'],
  ])('%s: %s', (line, expected) => {
    expect(does(line)).toBe(expected);
  });
});

describe('words that are not known before they are expanded', () => {
  const judge = (line: string, ...args: Parameters<typeof open>[]) =>
    judged(
      READING_PROGRAMS,
      line,
      args.map(([prefix, splits]) => open(prefix, splits)),
    );

  it.each(['cat', 'wc -l', 'ls', 'grep x', 'head -n 1', 'echo', 'du', 'stat', 'jq .', 'awk p'])(
    'are no options of harm of %s',
    (line) => {
      expect(onlyReads(judge(line, ['', true]))).toBe(true);
    },
  );

  it.each(['sort', 'sed p', 'rg x', 'diff', 'find', 'uniq', 'tree', 'less', 'fd', 'date', 'tar'])(
    'may be options of %s',
    (line) => {
      expect(onlyReads(judge(line, ['']))).toBe(false);
      expect(onlyReads(judge(line, ['-']))).toBe(false);
    },
  );

  it.each(['sort', 'sed p', 'rg x', 'diff', 'find', 'less'])(
    'are operands of %s when they begin otherwise',
    (line) => {
      expect(onlyReads(judge(line, ['./', true]))).toBe(true);
    },
  );

  it('may be two, the second of which uniq writes', () => {
    expect(onlyReads(judge('uniq', ['a']))).toBe(true);
    expect(onlyReads(judge('uniq', ['a', true]))).toBe(false);
  });

  it('are known by their beginning alone', () => {
    const { effects } = judge('cat', ['src/', true]);
    expect(effects).toEqual([{ kind: 'read', path: 'src/', token: open('src/', true) }]);
  });

  it('make the destination of a copy unknown when it may be several', () => {
    expect(effectsOf(judged(READING_PROGRAMS, 'cp a', [open('b', true)]))).toContain('unknown');
  });
});

it('an option that is in no table is not known, for every program that has options', () => {
  const free = /^(?:echo|printf|true|false|:|expr|seq|sleep|yes|factor|test|\[)$/;
  for (const [name, program] of Object.entries(READING_PROGRAMS)) {
    if (free.test(name)) continue;
    const { effects } = program({
      name,
      program: known(name),
      args: [known('--no-such-option-of-any'), known('x')],
      input: 'inherited',
    });
    expect([name, effects.some(({ kind }) => kind !== 'read')]).toEqual([name, true]);
  }
});
