import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineMethod } from '../../src/rpc/method.js';
import { REQUESTS } from '../../src/rpc/protocol.js';
import { REQUEST_SCHEMAS } from '../../src/schema/requests.js';
import { RawClient, type TestDaemon, testDaemon } from '../support/made-up-runs.js';

/** The parameters of every start there would have been. */
const started: unknown[] = [];
let daemon: TestDaemon;

beforeAll(async () => {
  const confine = defineMethod(REQUESTS.confine, {
    summary: 'starts',
    principals: ['client'],
    phase: 'serving',
    params: REQUEST_SCHEMAS.confine,
    handle: (params): never => {
      started.push(params);
      throw new Error('not here');
    },
  });
  daemon = await testDaemon([confine]);
});
afterAll(() => daemon.end());

const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
  params: { protocol: { min: 1, max: 1 }, client: { name: 'x', version: '1' } },
};

/** Messages that are nearly right. */
const message = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '1.0', 2),
    id: fc.oneof(fc.integer(), fc.string(), fc.constantFrom(null, 1, {}, [])),
    method: fc.constantFrom('confine', 'initialize', 'rpc.discover', '$/cancelRequest', '', 7),
    params: fc.oneof(
      fc.jsonValue(),
      fc.record(
        { argv: fc.oneof(fc.array(fc.string()), fc.jsonValue()), mode: fc.string() },
        { requiredKeys: [] },
      ),
      fc.constant(INITIALIZE.params),
    ),
  },
  { requiredKeys: [] },
);

const piece = fc.oneof(
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  message.map((each) => Buffer.from(`${JSON.stringify(each)}\n`)),
  message.map((each) => Buffer.from(JSON.stringify(each))),
  fc.constant(Buffer.from(`${JSON.stringify(INITIALIZE)}\n`)),
);

function isWellFormed(params: unknown): boolean {
  const { argv }: { readonly argv?: unknown } = Object(params);
  return (
    Array.isArray(argv) &&
    argv.length > 0 &&
    argv[0] !== '' &&
    argv.every((each) => typeof each === 'string' && !each.includes('\0'))
  );
}

test('whatever bytes arrive: an answer or the end, and nothing starts that was not well asked for', async () => {
  const other = new RawClient(daemon.client);
  await other.introduce();
  let asked = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      started.length = 0;
      const raw = new RawClient(daemon.client);
      for (const bytes of pieces) raw.socket.write(bytes);
      raw.socket.write('\n');
      raw.send({ id: 'last', method: 'rpc.discover' });
      // Answered, with whatever, or over.
      await raw.answer('last').catch(() => raw.ended);
      asked++;
      expect((await other.ask(asked, 'daemon.status')).result).toBeDefined();
      expect(started.every(isWellFormed)).toBe(true);
      raw.socket.destroy();
    }),
    { numRuns: 300 },
  );
  other.socket.destroy();
});
