// A process that uses the built library as any program would, as the user that started it. Requests come and answers go over
// the IPC channel: `{ id, op, … }` to `{ id, value }` or `{ id, error }`; `{ id, event, … }` in between for a watched run.
// Usage: node runner.mjs PACKAGE

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fstatSync, mkdirSync, openSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Loaded with the first use: a control needs no library. */
let loading;
function load() {
  loading ??= import(pathToFileURL(join(process.argv[2], 'dist', 'index.js')).href);
  return loading;
}

const runs = new Map();

function plainError(error) {
  if (!(error instanceof Error)) return { name: 'not an Error', message: String(error) };
  const { name, message, code, stage, errno, object, details } = error;
  const cause = error.cause instanceof Error ? plainError(error.cause) : undefined;
  return { name, message, code, stage, errno, object, details, cause };
}

/** Functions, streams and sockets cannot be sent; a run's result has none. */
async function settle(act) {
  const library = await load();
  try {
    return { result: await act(library) };
  } catch (error) {
    return { error: await describe(error), result: error.result };
  }
}

async function describe(error) {
  const library = await load();
  const isUnavailable = error instanceof library.SandboxUnavailableError;
  const isSandboxError = error instanceof library.SandboxError;
  return { ...plainError(error), isUnavailable, isSandboxError };
}

function collect(stream) {
  return new Promise((resolve) => {
    if (stream === null) return resolve('');
    let text = '';
    stream.setEncoding('utf8');
    stream.on('data', (part) => {
      text += part;
    });
    stream.on('close', () => resolve(text));
  });
}

/** A plain child process: the control. */
async function unconfined({ file, args, options }) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const [stdout, stderr, ended] = await Promise.all([
    collect(child.stdout),
    collect(child.stderr),
    new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (exitCode, signal) => resolve({ exitCode, signal }));
    }),
  ]);
  return { stdout, stderr, ...ended };
}

async function confined({ id, file, args, options, watch }) {
  const { abortAfterStart, ...rest } = options ?? {};
  return await settle(async (library) => {
    const controller = abortAfterStart ? new AbortController() : undefined;
    const signal = controller === undefined ? {} : { signal: controller.signal };
    const run = library.confine(file, args, { ...rest, ...signal });
    runs.set(id, run);
    // No input is meant: without this a command that reads would wait for ever.
    if (rest.input === undefined && !watch) run.stdin?.end();
    if (watch) {
      run.stdout?.on('data', (part) => process.send({ id, event: 'stdout', text: `${part}` }));
    }
    run.started.then(
      ({ pid }) => {
        if (watch) process.send({ id, event: 'started', pid });
        controller?.abort();
      },
      () => undefined,
    );
    try {
      return await run;
    } finally {
      runs.delete(id);
    }
  });
}

const prepared = new Map();

/** The one-shot way: a caller with a spawner of its own. */
async function prepareOnly({ id, file, args, options }) {
  const library = await load();
  prepared.set(id, await library.prepare(file, args, options));
  return id;
}

async function launchPrepared({ prepared: id }) {
  const { file, args, planFd, controlFd, enforcement, ended } = prepared.get(id);
  prepared.delete(id);
  const stdio = ['ignore', 'pipe', 'pipe', planFd, controlFd];
  const ran = await unconfined({ file, args, options: { stdio } });
  return { ...ran, enforcement, result: await ended };
}

async function oneShot(request) {
  try {
    await prepareOnly(request);
    return await launchPrepared({ prepared: request.id });
  } catch (error) {
    return { error: await describe(error) };
  }
}

/** The same, looked at while it goes on. */
async function startOneShot({ id, file, args, options }) {
  const library = await load();
  const ready = await library.prepare(file, args, options);
  const stdio = ['ignore', 'pipe', 'inherit', ready.planFd, ready.controlFd];
  const child = spawn(ready.file, ready.args, { stdio });
  child.stdout.on('data', (part) => process.send({ id, event: 'stdout', text: `${part}` }));
  process.send({ id, event: 'started', pid: child.pid });
  const [exitCode, signal] = await once(child, 'exit');
  return { exitCode, signal, result: await ready.ended };
}

/** Bytes of the plan that a command comes to. */
async function planBytes(request) {
  await prepareOnly(request);
  const plan = prepared.get(request.id);
  prepared.delete(request.id);
  const { size } = fstatSync(plan.planFd);
  plan.dispose();
  return size;
}

/** Calls `confine`, and in the very next statement makes something else of `path`. */
async function confinedThenChanged({ file, args, options, path, replacement }) {
  return await settle((library) => {
    const run = library.confine(file, args, options);
    run.stdin?.end();
    renameSync(path, `${path}.was`);
    if (replacement.kind === 'directory') mkdirSync(path);
    if (replacement.kind === 'file') writeFileSync(path, '');
    if (replacement.kind === 'link') symlinkSync(replacement.to, path);
    return run;
  });
}

async function inspect(library, params) {
  const { unavailable, ...inspection } = await library.inspect(params);
  if (unavailable === undefined) return inspection;
  return { ...inspection, unavailable: await describe(unavailable) };
}

const operations = {
  unconfined,
  confined,
  oneShot,
  prepareOnly,
  launchPrepared,
  startOneShot,
  planBytes,
  confinedThenChanged,
  inspect: ({ params }) => settle((library) => inspect(library, params)),
  resolve: async ({ params }) => settle((library) => library.resolvePolicy(params)),
  signal: async ({ run, signal }) => runs.get(run)?.kill(signal),
  endInput: async ({ run }) => {
    runs.get(run)?.stdin?.end();
  },
  /** Loads the leaking library: from now on this process has descriptors without close-on-exec. */
  leak: async ({ path, outside }) => {
    process.env.LEAK_OUTSIDE = outside;
    try {
      process.dlopen({ exports: {} }, path);
    } catch (error) {
      // It is no addon; its constructor has run by then.
      if (!/did not self-register/i.test(error.message)) throw error;
    }
    delete process.env.LEAK_OUTSIDE;
  },
  /** Opens a file here; the number can be handed over as a stream. Flags as `fs.open` takes them. */
  openFile: async ({ path, flags }) => openSync(path, flags),
  chdir: async ({ path }) => process.chdir(path),
  umask: async ({ mask }) => process.umask(mask),
};

process.on('message', async (request) => {
  try {
    const value = await operations[request.op](request);
    process.send({ id: request.id, value });
  } catch (error) {
    process.send({ id: request.id, error: plainError(error) });
  }
});
process.on('disconnect', () => process.exit(0));
process.send({ ready: true });
