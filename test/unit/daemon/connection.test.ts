import { afterEach, beforeEach, expect, test } from 'vitest';
import { ERROR_CODES } from '../../../src/errors/codes.js';
import { defineMethod, defineNotification } from '../../../src/rpc/method.js';
import { NOTIFICATIONS, REQUESTS } from '../../../src/rpc/protocol.js';
import { LIMITS } from '../../../src/schema/limits.js';
import { REQUEST_SCHEMAS } from '../../../src/schema/requests.js';
import { RawClient, type TestDaemon, testDaemon } from '../../support/made-up-runs.js';
import { until } from '../../support/until.js';

/** What reached a handler. Nothing but well-formed calls of known methods by those who may may add to it. */
let reached: string[] = [];
let waiting: { signal: AbortSignal; answer: () => void }[] = [];
let daemon: TestDaemon;
let clients: RawClient[] = [];

const METHODS = [
  defineMethod(REQUESTS.confine, {
    summary: 'starts',
    principals: ['client', 'operator'],
    phase: 'serving',
    params: REQUEST_SCHEMAS.confine,
    handle: (params): never => {
      reached.push(`confine ${params.argv?.[0] ?? params.command}`);
      throw new TypeError('a mistake of ours');
    },
  }),
  defineMethod(REQUESTS.wait, {
    summary: 'waits',
    principals: ['client', 'operator'],
    phase: 'ready',
    params: REQUEST_SCHEMAS.wait,
    handle: ({ run }, { signal }) =>
      new Promise((resolve) => {
        reached.push(`wait ${run}`);
        waiting.push({ signal, answer: () => resolve({ run }) });
      }),
  }),
  defineMethod(REQUESTS.write, {
    summary: 'writes',
    principals: ['client'],
    phase: 'ready',
    params: REQUEST_SCHEMAS.write,
    handle: (_, { signal }) =>
      new Promise((resolve) => {
        waiting.push({ signal, answer: () => resolve({}) });
      }),
  }),
  defineMethod(REQUESTS.setMode, {
    summary: 'sets',
    principals: ['operator'],
    phase: 'ready',
    params: REQUEST_SCHEMAS.setMode,
    handle: () => {
      reached.push('setMode');
      return {};
    },
  }),
  defineNotification(NOTIFICATIONS.credit, {
    summary: 'credits',
    principals: ['client'],
    phase: 'ready',
    params: REQUEST_SCHEMAS.credit,
    handle: ({ bytes }, { caller }) => {
      reached.push(`credit ${bytes}`);
      if (bytes > 0) {
        const data = 'x'.repeat(bytes);
        caller.notify(NOTIFICATIONS.output, { run: 'a', stream: 'stdout', cursor: 0, data });
      }
    },
  }),
];

beforeEach(async () => {
  reached = [];
  waiting = [];
  clients = [];
  daemon = await testDaemon(METHODS);
});
afterEach(async () => {
  for (const { socket } of clients) socket.destroy();
  await daemon.end();
});

function client(path = daemon.client): RawClient {
  const made = new RawClient(path);
  clients.push(made);
  return made;
}

async function ready(path?: string): Promise<RawClient> {
  const made = client(path);
  const { result } = await made.introduce();
  expect(result).toMatchObject({ protocol: 1 });
  return made;
}

/** The daemon still answers somebody else. */
async function othersAreWell(): Promise<void> {
  const other = await ready();
  expect(await other.ask(1, 'daemon.status')).toMatchObject({ result: { isDraining: false } });
  other.socket.destroy();
}

test('a handshake tells who one is, the limits, and where descriptors go', async () => {
  const { result } = await client().introduce();
  expect(result).toMatchObject({
    server: { name: 'cordon', pid: process.pid },
    principal: { kind: 'client', uid: process.geteuid?.(), pid: process.pid },
    descriptors: daemon.descriptors,
    limits: { rpcLine: LIMITS.rpcLine.value },
  });
  const operator = await client(daemon.operator).introduce();
  expect(operator.result).toMatchObject({ principal: { kind: 'operator' } });
});

test('nothing is answered before the handshake, and that comes once', async () => {
  const early = client();
  const refused = await early.ask(1, 'confine', { argv: ['true'] });
  expect(refused.error).toMatchObject({ code: ERROR_CODES.NOT_PERMITTED.rpc });
  early.send({ method: 'run/credit', params: { run: 'a', bytes: 1 } });
  expect((await early.introduce()).result).toBeDefined();
  const again = await early.ask(2, 'initialize', {
    protocol: { min: 1, max: 1 },
    client: { name: 'x', version: '1' },
  });
  expect(again.error).toMatchObject({ code: ERROR_CODES.NOT_PERMITTED.rpc });
  expect(reached).toEqual([]);
});

test('no common version: refused, and another try is possible', async () => {
  const raw = client();
  const { error } = await raw.ask(1, 'initialize', {
    protocol: { min: 2, max: 9 },
    client: { name: 'x', version: '1' },
  });
  expect(error).toMatchObject({ code: ERROR_CODES.PROTOCOL_MISMATCH.rpc });
  expect((await raw.introduce()).result).toBeDefined();
});

test("what a client asks of the operator's is refused over the clients' socket alone", async () => {
  const params = { session: 'a', mode: 'read-only' };
  const asClient = await ready();
  const refused = await asClient.ask(1, 'session.setMode', params);
  expect(refused.error).toMatchObject({ code: ERROR_CODES.NOT_PERMITTED.rpc });
  expect(reached).toEqual([]);
  const asOperator = await ready(daemon.operator);
  expect((await asOperator.ask(1, 'session.setMode', params)).result).toEqual({});
});

const WRONG: readonly (readonly [string, unknown, keyof typeof ERROR_CODES, RegExp])[] = [
  ['no parameters', undefined, 'INVALID_REQUEST', /neither/],
  ['both commands', { argv: ['x'], command: 'x' }, 'INVALID_REQUEST', /both/],
  ['an empty argv', { argv: [] }, 'INVALID_REQUEST', /argv/],
  ['a NUL byte', { argv: ['a\0b'] }, 'INVALID_REQUEST', /NUL/],
  ['a NUL byte in a text', { command: 'a\0b' }, 'INVALID_REQUEST', /NUL byte at 1/],
  ['parameters by position', [['x']], 'INVALID_REQUEST', /an object/],
  ['null', null, 'INVALID_REQUEST', /an object/],
  ['a number', 7, 'INVALID_REQUEST', /an object/],
  ['a misspelt option', { argv: ['x'], alowWrite: [] }, 'UNKNOWN_KEY', /allowWrite/],
  ['a misspelt mode', { argv: ['x'], mode: 'readonly' }, 'INVALID_REQUEST', /read-only/],
  ['a variable with =', { argv: ['x'], env: { 'A=': 'x' } }, 'INVALID_REQUEST', /env/],
  ['a variable that is no text', { argv: ['x'], env: { A: 1 } }, 'INVALID_REQUEST', /env/],
  ['no base64', { argv: ['x'], input: 'a?==' }, 'INVALID_REQUEST', /base64/],
  ['a stream choice', { argv: ['x'], stdio: ['pipe', 3, 'pipe'] }, 'INVALID_REQUEST', /pipe/],
  ['a path as session', { argv: ['x'], session: '../x' }, 'INVALID_REQUEST', /session/],
];

test.each(WRONG)('confine with %s is refused in words', async (_, params, code, words) => {
  const raw = await ready();
  const { error } = await raw.ask(1, 'confine', params);
  expect(error).toMatchObject({ code: ERROR_CODES[code].rpc, data: { code } });
  expect(error?.message).toMatch(words);
  expect(reached).toEqual([]);
});

test('`__proto__` is a key like any other, so an unknown one', async () => {
  const raw = await ready();
  raw.socket.write(
    '{"jsonrpc":"2.0","id":1,"method":"confine","params":{"argv":["x"],"__proto__":{"mode":"danger-full-access"}}}\n',
  );
  expect((await raw.answer(1)).error).toMatchObject({ data: { code: 'UNKNOWN_KEY' } });
  raw.socket.write('{"jsonrpc":"2.0","id":2,"method":"__proto__","params":{}}\n');
  expect((await raw.answer(2)).error).toMatchObject({ code: -32_601 });
  raw.socket.write('{"jsonrpc":"2.0","id":3,"method":"constructor"}\n');
  expect((await raw.answer(3)).error).toMatchObject({ code: -32_601 });
  expect(reached).toEqual([]);
  expect(Reflect.get({}, 'mode')).toBeUndefined();
});

test('a request is no notification and the other way round', async () => {
  const raw = await ready();
  expect((await raw.ask(1, 'run/credit', { run: 'a', bytes: 1 })).error?.code).toBe(-32_601);
  raw.send({ method: 'confine', params: { argv: ['x'] } });
  await raw.ask(2, 'daemon.status');
  expect(reached).toEqual([]);
});

test('a mistake of ours is said to be one, and logged', async () => {
  const raw = await ready();
  const { error } = await raw.ask(1, 'confine', { argv: ['x'] });
  expect(error).toMatchObject({ data: { code: 'INTERNAL' } });
  expect(daemon.logged.join('\n')).toMatch(/confine failed.*mistake of ours/);
  await othersAreWell();
});

/** Lines after which nothing can be told apart any more, or that mean nothing. */
const BROKEN: readonly (readonly [string, string])[] = [
  ['no JSON', '{"jsonrpc":"2.0",'],
  ['bytes', '\xff\xfe\0\x01'],
  ['a text', '"hello"'],
  ['null', 'null'],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"daemon.status"}]'],
  ['another version', '{"jsonrpc":"1.0","id":1,"method":"daemon.status"}'],
  ['no method', '{"jsonrpc":"2.0","id":1}'],
  ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":{"toString":1}}'],
  ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"daemon.status"}'],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{"toString":1},"method":"daemon.status"}'],
  ['a very long id', `{"jsonrpc":"2.0","id":"${'x'.repeat(129)}","method":"daemon.status"}`],
  ['HTTP', 'GET / HTTP/1.1'],
  ['deep nesting that does not end', '['.repeat(1_000_000)],
];

test.each(BROKEN)('a line of %s ends its connection, with an error', async (_, line) => {
  const raw = await ready();
  raw.socket.write(Buffer.from(`${line}\n`, 'latin1'));
  expect((await raw.answer(null)).error?.message).toMatch(/^The connection ends: /);
  await raw.ended;
  expect(reached).toEqual([]);
  await othersAreWell();
});

/** Cancels and the protocol's own notifications, in every wrong form. */
const HARMLESS: readonly string[] = [
  '{"jsonrpc":"2.0","method":"$/cancelRequest"}',
  '{"jsonrpc":"2.0","method":"$/cancelRequest","params":null}',
  '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}',
  '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{"toString":1}}}',
  '{"jsonrpc":"2.0","method":"$/cancelRequest","params":[1]}',
  '{"jsonrpc":"2.0","method":"$/progress"}',
  '{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"verbose"}}',
  '{"jsonrpc":"2.0","id":1,"result":{}}',
  '{"jsonrpc":"2.0","id":null,"error":{}}',
  '{"jsonrpc":"2.0","method":"no/such"}',
  '{"jsonrpc":"2.0","method":"run/credit","params":{"run":"a","bytes":"x"}}',
  '',
];

test('what asks for nothing is passed over', async () => {
  const raw = await ready();
  for (const line of HARMLESS) raw.socket.write(`${line}\n`);
  expect((await raw.ask(9, 'daemon.status')).result).toBeDefined();
  expect(reached).toEqual([]);
  expect(raw.messages.map(({ id }) => id)).toEqual([0, 9]);
});

test('deep nesting in a parameter is refused like any wrong value', async () => {
  const raw = await ready();
  const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
  raw.socket.write(`{"jsonrpc":"2.0","id":1,"method":"confine","params":{"argv":${deep}}}\n`);
  expect((await raw.answer(1)).error).toMatchObject({ data: { code: 'INVALID_REQUEST' } });
  raw.socket.write(`{"jsonrpc":"2.0","id":2,"method":"confine","params":{"x":${deep}}}\n`);
  expect((await raw.answer(2)).error).toMatchObject({ data: { code: 'UNKNOWN_KEY' } });
});

test('a line without an end is not kept beyond its bound', async () => {
  const raw = await ready();
  const piece = Buffer.alloc(1_048_576, 'x');
  const before = process.memoryUsage().arrayBuffers;
  let sent = 0;
  const pump = (): void => {
    while (!raw.socket.destroyed && sent < 1_073_741_824) {
      sent += piece.length;
      if (!raw.socket.write(piece)) {
        raw.socket.once('drain', pump);
        return;
      }
    }
  };
  pump();
  await raw.ended;
  expect(sent).toBeLessThan(67_108_864);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(67_108_864);
  await othersAreWell();
});

test('an id that is in use ends the connection; after its answer it is free', async () => {
  const raw = await ready();
  await raw.ask(5, 'daemon.status');
  raw.messages.length = 0;
  expect((await raw.ask(5, 'daemon.status')).result).toBeDefined();
  raw.send({ id: 6, method: 'job.wait', params: { run: 'a' } });
  raw.send({ id: '6', method: 'job.wait', params: { run: 'b' } });
  expect((await raw.answer(null)).error?.message).toMatch(/not answered yet/);
  await raw.ended;
  expect(reached).not.toContain('wait b');
});

test('a cancelled request is told so once, however often it is cancelled', async () => {
  const raw = await ready();
  raw.send({ id: 1, method: 'job.wait', params: { run: 'a' } });
  await until('it has begun', () => waiting.length === 1);
  for (let i = 0; i < 50_000; i++) {
    raw.socket.write('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}\n');
  }
  await until('it is cancelled', () => waiting[0]?.signal.aborted);
  waiting[0]?.answer();
  expect(await raw.answer(1)).toMatchObject({ result: { run: 'a' } });
  await othersAreWell();
});

test('a request that is cancelled before it is looked at learns it', async () => {
  const raw = await ready();
  raw.socket.write(
    '{"jsonrpc":"2.0","id":1,"method":"job.wait","params":{"run":"a"}}\n{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}\n',
  );
  await until('it is cancelled', () => waiting[0]?.signal.aborted);
});

test('requests past the bound are refused, and the ones before go on', async () => {
  const raw = await ready();
  const most = LIMITS.rpcRequests.value;
  for (let id = 1; id <= most + 10; id++) {
    raw.send({ id, method: 'job.wait', params: { run: `r${id}` } });
  }
  const { error } = await raw.answer(most + 10);
  expect(error).toMatchObject({ data: { code: 'LIMIT_EXCEEDED' } });
  await until('the others have begun', () => waiting.length === most);
  for (const { answer } of waiting) answer();
  expect(await raw.answer(most)).toMatchObject({ result: { run: `r${most}` } });
  expect((await raw.ask(0, 'daemon.status')).result).toBeDefined();
});

test('requests whose bytes are too many together are refused, until some are answered', async () => {
  const raw = await ready();
  const data = 'A'.repeat(8_000_000);
  for (let id = 1; id <= 5; id++) raw.send({ id, method: 'run.write', params: { run: 'a', data } });
  expect((await raw.answer(5)).error).toMatchObject({ data: { code: 'LIMIT_EXCEEDED' } });
  await until('the others have begun', () => waiting.length === 4);
  for (const { answer } of waiting) answer();
  expect((await raw.answer(4)).result).toEqual({});
  raw.send({ id: 6, method: 'run.write', params: { run: 'a', data } });
  await until('there is room again', () => waiting.length === 5);
});

test('a flood of notifications is taken at the speed it is handled, in order', async () => {
  const raw = await ready();
  const line = (bytes: number) =>
    `{"jsonrpc":"2.0","method":"run/credit","params":{"run":"a","bytes":${bytes}}}\n`;
  raw.socket.write(line(0).repeat(20_000));
  expect((await raw.ask(1, 'daemon.status')).result).toBeDefined();
  expect(reached).toHaveLength(20_000);
});

test('a client that never reads is let go, and nobody waits for it', async () => {
  const raw = await ready();
  raw.socket.pause();
  const more = (): void => {
    raw.send({ method: 'run/credit', params: { run: 'a', bytes: 1_048_576 } });
  };
  for (let i = 0; i < 64; i++) more();
  await othersAreWell();
  await until('it is let go', () => daemon.daemon.connectionCount === 0);
});

test('losing the connection tells every call of it', async () => {
  const raw = await ready();
  raw.send({ id: 1, method: 'job.wait', params: { run: 'a' } });
  await until('it has begun', () => waiting.length === 1);
  raw.socket.destroy();
  await until('it is told', () => waiting[0]?.signal.aborted);
  waiting[0]?.answer();
  await othersAreWell();
});

test('while it stops nothing more is started, but all else is answered', async () => {
  let drained = (): void => undefined;
  const runs = {
    methods: METHODS,
    counts: () => ({ running: 1, jobs: 0 }),
    drain: () => new Promise<void>((resolve) => (drained = resolve)),
    kill: () => undefined,
    reload: () => Promise.resolve(),
  };
  const other = await testDaemon([], { startRuns: () => Promise.resolve(runs) });
  const raw = await ready(other.client);
  const stopped = other.daemon.stop();
  expect((await raw.ask(1, 'confine', { argv: ['x'] })).error).toMatchObject({
    data: { code: 'DAEMON_STOPPING' },
  });
  expect(await raw.ask(2, 'daemon.status')).toMatchObject({
    result: { isDraining: true, running: 1 },
  });
  drained();
  await stopped;
  await raw.ended;
  expect(other.announced).toEqual(['READY=1', 'STOPPING=1']);
  const late = client(other.client);
  await late.ended;
  expect(late.messages).toEqual([]);
});
