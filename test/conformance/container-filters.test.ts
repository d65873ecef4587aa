import { readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { refuseProgram } from '../support/build.js';
import { Stage } from '../support/stage.js';

/** x86-64 and arm64, in this order. */
const NUMBERS = { process_vm_readv: [310, 270], pidfd_getfd: [438, 438] } as const;

function refusing(name: keyof typeof NUMBERS, errno: number): readonly string[] {
  const number = NUMBERS[name][process.arch === 'arm64' ? 1 : 0];
  return [refuseProgram(), String(errno), String(number)];
}

const ERRORS = [
  ['ENOSYS', constants.errno.ENOSYS],
  ['EPERM', constants.errno.EPERM],
] as const;
/** Without mounts, which would answer before what is judged here does. */
const OPTIONS = { protect: 'none', sharedMemory: 'none', namespaces: 'never' } as const;

describe.each(PERSONAS)('$name, in a container whose filter', (persona) => {
  describe.each(ERRORS)('answers process_vm_readv with %s', (_name, errno) => {
    const stage = new Stage(persona, { wrap: refusing('process_vm_readv', errno) }).install(
      'landlock:1',
      'seccomp',
    );

    it('metadata is judged as ever: inside it changes, outside it stays', async () => {
      stage.file('workspace/own', '', 0o644);
      const outside = stage.file('outside', '', 0o644);
      const change = `chmod 600 ${outside}`;
      expect((await stage.runner.unconfined('sh', ['-c', change])).exitCode).toBe(0);
      expect(statSync(outside).mode & 0o777).toBe(0o600);
      const settled = await stage.script(
        `chmod 640 own; chmod 644 ${outside}; touch -d 2001-01-01 own`,
        OPTIONS,
      );
      expect(settled.result?.stderr).toMatch(/outside.*Permission denied/);
      expect(statSync(outside).mode & 0o777).toBe(0o600);
      const own = statSync(stage.path('workspace/own'));
      expect([own.mode & 0o777, own.mtime.getUTCFullYear()]).toEqual([0o640, 2001]);
      expect(settled.result?.enforcement?.level).toBe('full');
    });
  });

  describe.each(ERRORS)('answers pidfd_getfd with %s', (_name, errno) => {
    const stage = new Stage(persona, { wrap: refusing('pidfd_getfd', errno) }).install(
      'landlock:6',
      'seccomp',
    );
    const talk = (address: string) => `node -e "
      const { createServer, connect } = require('node:net');
      const server = createServer((peer) => peer.end('heard')).listen(${address}, () => {
        const { port } = server.address();
        connect(${address} === 0 ? port : ${address}).on('data', (words) => {
          require('node:fs').writeFileSync('said', words);
          server.close();
        });
      });"`;

    it.each([
      ['TCP', '0'],
      ["a UNIX socket of the run's own", "'./socket'"],
    ])('%s is connected as ever', async (_kind, address) => {
      const { result } = await stage.script(talk(address), OPTIONS);
      expect(result?.stderr).toBe('');
      expect(readFileSync(stage.path('workspace/said'), 'utf8')).toBe('heard');
    });

    it('and the report says that sockets outside can be reached, and how to close them', async () => {
      const { result } = await stage.script('true', OPTIONS);
      const report = result?.enforcement;
      expect(report?.level).toBe('partial');
      expect(report?.guarantees['unix-sockets']).toMatchObject({
        status: 'absent',
        remedy: expect.stringContaining('--sockets none'),
      });
      expect(report?.guarantees['abstract-sockets'].status).toBe('prevented');
      const closed = await stage.script('true', { ...OPTIONS, sockets: 'none' });
      expect(closed.result?.enforcement?.level).toBe('full');
    });
  });
});
