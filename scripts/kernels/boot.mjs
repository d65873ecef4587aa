/**
 * @module Boots a kernel on an emulated machine and hands back what its second serial line said.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY_MIB = 1024;
/** Of the console, when the guest did not come to its end. */
const MOST_TAIL_BYTES = 3_000;
/** Of timeout(1). */
const EXIT_LATE = 124;

/**
 * What makes a guest start fast and calmly where a processor is emulated: no self-tests, no calibration against a clock that
 * stands still while the host is busy; `reboot=t` ends the emulator without power management.
 */
const ARGUMENTS =
  'console=ttyS0 quiet panic=-1 reboot=t mitigations=off nokaslr no_timer_check tsc=reliable lpj=4000000 random.trust_cpu=on cryptomgr.notests audit=0';

/**
 * `{ said, console, seconds }`, or `{ failure, seconds }`: why nothing can be said of this kernel. `folder` is made, and
 * removed.
 */
export async function boot({ vmlinux, archives, extra = '', folder, timeoutSeconds }) {
  mkdirSync(folder, { recursive: true });
  const [initrd, console, results] = ['initrd', 'console', 'results'].map((name) =>
    join(folder, name),
  );
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  try {
    writeFileSync(initrd, Buffer.concat(archives));
    const ending = await emulate(
      [
        ...['-accel', 'tcg,thread=multi,tb-size=256', '-machine', 'pc,usb=off', '-cpu', 'max'],
        ...['-smp', '1', '-m', `${MEMORY_MIB}`, '-nodefaults', '-no-user-config', '-no-reboot'],
        ...['-display', 'none', '-serial', `file:${console}`, '-serial', `file:${results}`],
        ...['-kernel', vmlinux, '-initrd', initrd, '-append', `${ARGUMENTS} ${extra}`.trim()],
      ],
      timeoutSeconds,
    );
    const said = text(results);
    if (ending === undefined && said.includes('@done')) {
      return { said, console: text(console).slice(-MOST_TAIL_BYTES), seconds: seconds() };
    }
    const tail = `${text(console)}\n${said}`.slice(-MOST_TAIL_BYTES);
    const reason = ending ?? 'the guest stopped before its end';
    return { failure: `${reason}; the last it said:\n${tail}`, seconds: seconds() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function text(path) {
  return existsSync(path) ? readFileSync(path, 'utf8').replaceAll('\r', '') : '';
}

/** Undefined when it ended by itself and in time. `timeout` sees to it also when this process is killed. */
function emulate(args, seconds) {
  return new Promise((resolve) => {
    const child = spawn(
      'timeout',
      ['--kill-after=5', `${seconds}`, 'qemu-system-x86_64', ...args],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const stop = () => child.kill();
    let words = '';
    process.once('exit', stop);
    child.stderr.on('data', (chunk) => {
      words = `${words}${chunk}`.slice(-MOST_TAIL_BYTES);
    });
    child.once('error', (error) => settle(`the emulator cannot be started: ${error.message}`));
    child.once('close', (code, signal) => {
      if (code === 0) settle(undefined);
      else if (code === EXIT_LATE) settle(`not at its end after ${seconds} s`);
      else settle(`the emulator ended (${code ?? signal}): ${words}`);
    });
    function settle(ending) {
      process.removeListener('exit', stop);
      resolve(ending);
    }
  });
}
