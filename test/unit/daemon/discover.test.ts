import { expect, test } from 'vitest';
import { openRpcDocument } from '../../../src/daemon/discover.js';
import { methodTable } from '../../../src/daemon/own-methods.js';
import { ERROR_CODES } from '../../../src/errors/codes.js';
import { defineMethod, defineNotification } from '../../../src/rpc/method.js';
import { NOTIFICATIONS, REQUESTS } from '../../../src/rpc/protocol.js';
import { REQUEST_SCHEMAS } from '../../../src/schema/requests.js';

const CONFINE = defineMethod(REQUESTS.confine, {
  summary: 'starts a command',
  principals: ['client'],
  phase: 'serving',
  params: REQUEST_SCHEMAS.confine,
  handle: (): never => {
    throw new Error();
  },
});
const CREDIT = defineNotification(NOTIFICATIONS.credit, {
  summary: 'has read so much',
  principals: ['client'],
  phase: 'ready',
  params: REQUEST_SCHEMAS.credit,
  handle: () => undefined,
});

interface Document {
  readonly methods: readonly {
    readonly name: string;
    readonly params: readonly {
      readonly name: string;
      readonly required: boolean;
      readonly schema: object;
    }[];
    readonly result?: object;
  }[];
  readonly components: { readonly errors: Readonly<Record<string, { readonly code: number }>> };
}

test('the document says of each method what its row says', () => {
  const status = (): never => {
    throw new Error();
  };
  const told = { version: '1', pid: 1, descriptors: '/d', status };
  const table = methodTable(told, [CONFINE, CREDIT]);
  const document = JSON.parse(JSON.stringify(openRpcDocument(table.values(), '1'))) as Document;
  expect(document.methods.map(({ name }) => name)).toEqual([...table.keys()]);
  const confine = document.methods.find(({ name }) => name === 'confine');
  expect(confine).toMatchObject({ 'x-principals': ['client'], 'x-phase': 'serving' });
  expect(confine?.params.find(({ name }) => name === 'argv')).toMatchObject({
    required: false,
    schema: { type: 'array', items: { type: 'string' } },
  });
  expect(confine?.params.find(({ name }) => name === 'env')?.schema).toMatchObject({
    type: 'object',
    additionalProperties: { type: 'string' },
  });
  const credit = document.methods.find(({ name }) => name === 'run/credit');
  expect(credit?.result).toBeUndefined();
  expect(credit?.params.map(({ required }) => required)).toEqual([true, true]);
  for (const [code, { rpc }] of Object.entries(ERROR_CODES)) {
    expect(document.components.errors[code]?.code).toBe(rpc);
  }
});
