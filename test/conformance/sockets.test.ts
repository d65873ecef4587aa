import { chmodSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { commandLine, descendants, parentOf } from '../support/processes.js';
import { needs, needsHere } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { until } from '../support/until.js';

needs('landlock', 'seccomp');

const PYTHON = '/usr/bin/python3';

/** What most scripts begin with. `tried` prints how a call went and how long it took, in whole seconds. */
const PRELUDE = `
import errno, os, signal, socket, sys, time
def tried(name, act):
    began = time.monotonic()
    try: answer = act(); answer = 'ok' if answer is None else answer
    except OSError as error: answer = errno.errorcode[error.errno]
    except Interrupted: answer = 'interrupted'
    print(name, answer, 'at once' if time.monotonic() - began < 0.9 else 'waited', flush=True)
class Interrupted(Exception): pass
def interrupt(number, frame): raise Interrupted()
def full(family, address):
    server = socket.socket(family); server.bind(address); server.listen(0)
    waiting = []
    while True:
        one = socket.socket(family); one.setblocking(False); waiting.append(one)
        answer = one.connect_ex(server.getsockname())
        if answer == errno.EAGAIN: break
        if answer == errno.EINPROGRESS:
            import select
            if not select.select([], [one], [], 0.2)[1]: break
    return server, waiting
`;

/** A listener of the test's own, outside every run; counts who comes. */
class Listener {
  readonly #server: Server;
  readonly path: string;
  connections = 0;

  private constructor(path: string) {
    this.path = path;
    this.#server = createServer((socket) => {
      this.connections += 1;
      socket.on('error', () => undefined);
      socket.end('outside\n');
    });
  }

  static async at(path: string): Promise<Listener> {
    const listener = new Listener(path);
    await new Promise<void>((resolve) => listener.#server.listen(path, resolve));
    chmodSync(path, 0o777);
    return listener;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  const listeners: Listener[] = [];
  beforeEach((context) => needsHere(context, 'program:python3'));
  afterEach(async () => {
    for (const listener of listeners.splice(0)) await listener.close();
  });

  async function listen(name: string): Promise<Listener> {
    const listener = await Listener.at(stage.path(name));
    listeners.push(listener);
    return listener;
  }

  async function python(
    script: string,
    args: readonly string[] = [],
    options: Readonly<Record<string, unknown>> = {},
  ): Promise<readonly string[]> {
    const file = stage.file('script.py', `${PRELUDE}\n${script}`);
    const { result, error } = await stage.run(PYTHON, [file, ...args], options);
    expect(error?.message, `${result?.stderr}`).toBeUndefined();
    return `${result?.stdout}`.split('\n');
  }

  /** The same without a sandbox. */
  async function plain(script: string, args: readonly string[] = []): Promise<readonly string[]> {
    const file = stage.file('script.py', `${PRELUDE}\n${script}`);
    const env = { ...stage.runner.env, TMPDIR: stage.directory('temp') };
    const ran = await stage.runner.unconfined(PYTHON, [file, ...args], {
      cwd: stage.workspace,
      env,
    });
    expect(ran.exitCode, ran.stderr).toBe(0);
    return ran.stdout.trim().split('\n');
  }

  const CONNECT = `
for path in sys.argv[1:]:
    tried(os.path.basename(path), lambda: socket.socket(socket.AF_UNIX).connect(path))
`;

  describe.each(['read-only', 'workspace-write'] as const)('%s', (mode) => {
    it('a socket outside is out of reach unless granted by name', async () => {
      const granted = await listen('granted');
      const other = await listen('other');
      const paths = [granted.path, other.path];
      expect(await plain(CONNECT, paths)).toEqual(['granted ok at once', 'other ok at once']);
      await until('both have counted', () => granted.connections + other.connections === 2);
      const allowed = await python(CONNECT, paths, { mode, allowSocket: [granted.path] });
      expect(allowed).toEqual(['granted ok at once', 'other EACCES at once']);
      expect(await python(CONNECT, paths, { mode })).toEqual([
        'granted EACCES at once',
        'other EACCES at once',
      ]);
      await until('the granted one has counted', () => granted.connections === 2);
      expect(other.connections).toBe(1);
    });

    it('a socket in the workspace that is older than the run is not its own', async () => {
      const old = await listen('workspace/old');
      expect(await plain(CONNECT, [old.path])).toEqual(['old ok at once']);
      await until('it has counted', () => old.connections === 1);
      expect(await python(CONNECT, [old.path], { mode })).toEqual(['old EACCES at once']);
      expect(old.connections).toBe(1);
      const options = { mode, allowSocket: [old.path] };
      expect(await python(CONNECT, [old.path], options)).toEqual(['old ok at once']);
    });

    it('another socket in the place of a granted one is not granted by its directory', async () => {
      const granted = await listen('d-granted');
      const beside = await listen('d-granted-beside');
      const lines = await python(CONNECT, [beside.path, granted.path], {
        mode,
        allowSocket: [granted.path],
      });
      expect(lines).toEqual(['d-granted-beside EACCES at once', 'd-granted ok at once']);
      expect(beside.connections).toBe(0);
    });

    it('sockets: none leaves pairs', async () => {
      const script = `
tried('stream', lambda: socket.socket(socket.AF_UNIX) and None)
tried('pair', lambda: socket.socketpair() and None)
tried('datagram pair', lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) and None)
tried('tcp', lambda: socket.socket() and None)`;
      expect(await python(script, [], { mode, sockets: 'none' })).toEqual([
        'stream EACCES at once',
        'pair ok at once',
        'datagram pair EACCES at once',
        'tcp ok at once',
      ]);
    });

    it('servers of its own in the temp directory, by every way to their name', async () => {
      const script = `
base = os.environ['TMPDIR']; os.chdir(base)
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    server = socket.socket(socket.AF_UNIX, kind); server.bind('s'); server.listen(8)
    os.symlink('s', 'link'); os.link('s', 'hard')
    fd = os.open('s', os.O_PATH)
    for path in ('s', base + '/s', './link', 'hard', '../' + os.path.basename(base) + '/s', '/proc/self/fd/%d' % fd):
        client = socket.socket(socket.AF_UNIX, kind); client.connect(path); client.send(b'x')
        peer = server.accept()[0]; assert peer.recv(1) == b'x'; assert peer.getsockname()
    for name in ('s', 'link', 'hard'): os.unlink(name)
open('file', 'w')
tried('a file', lambda: socket.socket(socket.AF_UNIX).connect('file'))
tried('nothing', lambda: socket.socket(socket.AF_UNIX).connect('nothing'))
tried('below a file', lambda: socket.socket(socket.AF_UNIX).connect('file/s'))
gone = socket.socket(socket.AF_UNIX); gone.bind('gone'); gone.close()
tried('nobody listens', lambda: socket.socket(socket.AF_UNIX).connect('gone'))
one = socket.socket(socket.AF_UNIX); server = socket.socket(socket.AF_UNIX); server.bind('t'); server.listen(1)
one.connect('t'); tried('again', lambda: one.connect('t'))`;
      const confined = await python(script, [], { mode });
      expect(confined).toEqual(await plain(script));
      expect(confined).toHaveLength(5);
    });

    it('TCP: blocking, non-blocking, refused, in use, invalid', async () => {
      const script = `
import select
server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen(8); address = server.getsockname()
tried('blocking', lambda: socket.create_connection(address) and None)
one = socket.socket(); one.setblocking(False)
print('non-blocking', errno.errorcode.get(one.connect_ex(address), 'ok'))
select.select([], [one], []); print('then', one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), errno.errorcode.get(one.connect_ex(address), 'ok'))
closed = socket.socket(); closed.bind(('127.0.0.1', 0)); port = closed.getsockname()[1]
tried('refused', lambda: socket.socket().connect(('127.0.0.1', port)))
two = socket.socket(); two.connect(address); tried('again', lambda: two.connect(address))
three = socket.socket(); three.settimeout(5); tried('with a time-out', lambda: three.connect(address))
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); tried('udp', lambda: datagrams.connect(address))
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def raw(fd, bytes_, length):
    if libc.connect(fd, bytes_, length) != 0: raise OSError(ctypes.get_errno(), '')
tried('no address', lambda: raw(socket.socket().fileno(), None, 16))
tried('short', lambda: raw(socket.socket().detach(), b'\\2\\0', 2))
tried('too long', lambda: raw(socket.socket().detach(), b'\\2\\0' + bytes(300), 300))
tried('negative', lambda: raw(socket.socket().detach(), b'\\2\\0', -1))
tried('closed', lambda: raw(999, b'\\2\\0' + bytes(14), 16))
tried('a file', lambda: raw(os.open('/dev/null', os.O_RDONLY), b'\\2\\0' + bytes(14), 16))
tried('unspecified', lambda: raw(datagrams.fileno(), bytes(16), 16))`;
      const confined = await python(script, [], { mode });
      expect(confined).toEqual(await plain(script));
      expect(confined.length).toBeGreaterThan(13);
    });
  });

  describe.each(['TCP', 'UNIX'] as const)('a %s connect that waits', (family) => {
    const FULL =
      family === 'TCP'
        ? "server, waiting = full(socket.AF_INET, ('127.0.0.1', 0)); one = socket.socket()"
        : "server, waiting = full(socket.AF_UNIX, os.environ['TMPDIR'] + '/full'); one = socket.socket(socket.AF_UNIX)";
    const PLAIN_FULL = `${FULL}\naddress = server.getsockname()`;

    it('is interrupted by an alarm', async () => {
      const lines = await python(`${PLAIN_FULL}
signal.signal(signal.SIGALRM, interrupt); signal.alarm(1)
tried('connect', lambda: one.connect(address))`);
      expect(lines).toEqual(['connect interrupted waited']);
    });

    it('holds up no other call, and is killed by SIGTERM', async () => {
      const lines = await python(`${PLAIN_FULL}
child = os.fork()
if child == 0:
    one.connect(address); os._exit(9)
# Asleep in the call: there is nothing else that it waits for.
while open('/proc/%d/stat' % child).read().split(') ')[1][0] != 'S': pass
tried('meanwhile', lambda: os.chmod(os.environ['TMPDIR'], 0o700))
os.kill(child, signal.SIGTERM)
tried('killed', lambda: os.WTERMSIG(os.waitpid(child, 0)[1]))`);
      expect(lines).toEqual(['meanwhile ok at once', 'killed 15 at once']);
    });

    it('is made when there is room', async () => {
      const lines = await python(`${PLAIN_FULL}
child = os.fork()
if child == 0:
    one.connect(address); os._exit(7)
while open('/proc/%d/stat' % child).read().split(') ')[1][0] != 'S': pass
server.settimeout(10)
status = 0
while True:
    try: server.accept()
    except TimeoutError: break
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended: break
    server.settimeout(3)
if not ended: ended, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status))`);
      expect(lines).toEqual(['7']);
    });

    it('leaves nothing behind however often it is interrupted', async () => {
      const file = stage.file(
        'script.py',
        `${PRELUDE}
${PLAIN_FULL}
hits = 0
def count(number, frame):
    global hits; hits += 1
    if hits == 10: print('ten', flush=True); signal.setitimer(signal.ITIMER_REAL, 0)
signal.signal(signal.SIGALRM, count); signal.setitimer(signal.ITIMER_REAL, 0.03, 0.03)
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
raw = (b'\\2\\0' + address[1].to_bytes(2, 'big') + bytes([127, 0, 0, 1]) + bytes(8)) if one.family == socket.AF_INET else b'\\1\\0' + address.encode() + b'\\0'
# Python itself would wait in another way after the first interruption.
while libc.connect(one.fileno(), raw, len(raw)) != 0 and ctypes.get_errno() == errno.EINTR: pass`,
      );
      const run = stage.runner.watched(PYTHON, [file], {
        mode: 'workspace-write',
        workspace: stage.workspace,
        cwd: stage.workspace,
        reject: false,
      });
      const pid = await run.started;
      await run.says('ten');
      // The supervisor's children: the command, and one that waits for it.
      const supervisor = parentOf(pid);
      const children = (): readonly string[] =>
        descendants(supervisor)
          .filter((each) => parentOf(each) === supervisor)
          .map(commandLine);
      await until('all but one have gone', () => children().length <= 2);
      await run.signal('SIGKILL');
      await run.settled;
    });
  });
});
