import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, readdirSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadNative } from '../../../src/native/load.js';
import { defineMethod } from '../../../src/rpc/method.js';
import { REQUESTS } from '../../../src/rpc/protocol.js';
import { LIMITS } from '../../../src/schema/limits.js';
import { REQUEST_SCHEMAS } from '../../../src/schema/requests.js';
import { RawClient, type TestDaemon, testDaemon } from '../../support/made-up-runs.js';
import { until } from '../../support/until.js';

const { binding } = loadNative();
const TICKET = '0123456789abcdef0123456789abcdef';
let daemon: TestDaemon;
let raw: RawClient;

/** Writes into the descriptors it is given. */
const TAKER = defineMethod(REQUESTS.jobs, {
  summary: 'takes',
  principals: ['client'],
  phase: 'ready',
  params: REQUEST_SCHEMAS.jobs,
  handle: async (_, { caller }) => {
    const taken = await caller.takeDescriptors(TICKET);
    for (const fd of taken) {
      writeSync(fd, 'taken ');
      binding.close(fd);
    }
    return { jobs: [] };
  },
});

beforeEach(async () => {
  daemon = await testDaemon([TAKER]);
  raw = new RawClient(daemon.client);
  await raw.introduce();
});
afterEach(async () => {
  raw.socket.destroy();
  await daemon.end();
});

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

function send(ticket: string, count = 2): number {
  const fd = openSync(join(daemon.directory, 'file'), 'a');
  try {
    binding.sendDescriptors(
      daemon.descriptors,
      ticket,
      Array.from({ length: count }, () => fd),
    );
    return fstatSync(fd).size;
  } finally {
    closeSync(fd);
  }
}

function written(): number {
  const fd = openSync(join(daemon.directory, 'file'), 'a');
  const { size } = fstatSync(fd);
  closeSync(fd);
  return size;
}

test('descriptors come before or after the request that takes them, and are taken once', async () => {
  const before = openDescriptors();
  send(TICKET);
  expect((await raw.ask(1, 'job.list')).result).toEqual({ jobs: [] });
  expect(written()).toBe('taken taken '.length);
  raw.send({ id: 2, method: 'job.list' });
  await raw.ask(3, 'daemon.status');
  send(TICKET, 1);
  expect((await raw.answer(2)).result).toEqual({ jobs: [] });
  expect(written()).toBe('taken taken taken '.length);
  await until('nothing is left open', () => openDescriptors() === before);
});

test('a ticket that is in use, or is none, is not kept', async () => {
  send(TICKET);
  await until('it has come', () => openDescriptors() > 0);
  const before = openDescriptors();
  send(TICKET);
  send('no ticket');
  send(`${TICKET}0`);
  await until('they are let go', () => openDescriptors() <= before);
  expect((await raw.ask(1, 'job.list')).result).toEqual({ jobs: [] });
});

test("another process's ticket is not given out", async () => {
  const script = `require(process.argv[1]).sendDescriptors(process.argv[2], '${TICKET}', [0])`;
  const addon = join(import.meta.dirname, '../../../build/Release/cordon.node');
  // This process answers, so it must not wait for that one: what it sends lies until then.
  const argv = ['-e', script, addon, daemon.descriptors];
  const { status, stderr } = spawnSync(process.execPath, argv, {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 10_000,
  });
  expect([status, String(stderr)]).toEqual([0, '']);
  raw.send({ id: 1, method: 'job.list' });
  const { error } = await raw.answer(1);
  expect(error).toMatchObject({ data: { code: 'TICKET_UNKNOWN' } });
}, 30_000);

test('connections that send nothing keep no thread, and give way', async () => {
  const silent = Array.from({ length: LIMITS.tickets.value - 4 }, () =>
    connect(daemon.descriptors),
  );
  await Promise.all(silent.map((each) => new Promise((resolve) => each.once('connect', resolve))));
  send(TICKET);
  expect((await raw.ask(1, 'job.list')).result).toEqual({ jobs: [] });
  await Promise.all(silent.map((each) => new Promise((resolve) => each.once('close', resolve))));
});
