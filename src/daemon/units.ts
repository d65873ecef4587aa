/**
 * The units by which systemd starts the daemon of a user when somebody connects. Pure.
 * @module
 */

/** How the daemon is started: the interpreter and the command, absolute. */
export interface UnitsRequest {
  readonly node: string;
  readonly command: string;
}

const SOCKETS = [
  { unit: 'cordon', file: 'cordon.sock', name: 'client' },
  { unit: 'cordon-operator', file: 'operator.sock', name: 'operator' },
  { unit: 'cordon-descriptors', file: 'descriptors.sock', name: 'descriptors' },
] as const;

const SERVICE = 'cordon.service';

/** Each unit below its name, as a file of `~/.config/systemd/user`. */
export function systemdUnits({ node, command }: UnitsRequest): string {
  const sockets = SOCKETS.map(({ unit }) => `${unit}.socket`).join(' ');
  const service = `# ${SERVICE}
[Unit]
Description=Cordon: runs commands confined
Requires=${sockets}
After=${sockets}

[Service]
Type=notify
NotifyAccess=main
ExecStart=${word(node)} ${word(command)} daemon
ExecReload=kill -HUP $MAINPID
Restart=on-failure
# The daemon lets what runs end by itself, then kills it.
KillMode=mixed
TimeoutStopSec=20

[Install]
WantedBy=default.target
`;
  return [...SOCKETS.map(socketUnit), service].join('\n');
}

function socketUnit({ unit, file, name }: (typeof SOCKETS)[number]): string {
  return `# ${unit}.socket
[Unit]
Description=Cordon: ${name} socket

[Socket]
ListenStream=%t/cordon/${file}
FileDescriptorName=${name}
SocketMode=0600
DirectoryMode=0700
Service=${SERVICE}

[Install]
WantedBy=sockets.target
`;
}

/** As a unit file reads it: quoted, with what it would expand written out. */
function word(text: string): string {
  const plain = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `"${plain.replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;
}
