/**
 * The environment of a Run: the caller's, without what names a socket or descriptor the run does not get.
 * @module
 */

interface RemovedVariable {
  /** A name, or the beginning of one when it ends in `*`. */
  readonly name: string;
  readonly reason: string;
}

/** Removed whatever the mode: they speak to Cordon, not to the command. */
const CORDON: RemovedVariable = { name: 'CORDON_*', reason: "Cordon's own settings" };

/** Variables through which a run would talk to a program outside that acts for it, or look for what it was not given. */
export const REMOVED_VARIABLES: readonly RemovedVariable[] = [
  { name: 'SSH_AUTH_SOCK', reason: 'signs with the keys of the ssh agent' },
  { name: 'SSH_AGENT_PID', reason: 'belongs to SSH_AUTH_SOCK' },
  { name: 'GPG_AGENT_INFO', reason: 'signs with the keys of the gpg agent' },
  { name: 'GNOME_KEYRING_CONTROL', reason: 'reads the passwords of the keyring' },
  { name: 'DBUS_*', reason: 'starts programs through the session or system bus' },
  { name: 'AT_SPI_BUS_ADDRESS', reason: 'drives other windows through the accessibility bus' },
  { name: 'SESSION_MANAGER', reason: 'registers programs with the desktop session' },
  { name: 'DOCKER_HOST', reason: 'starts containers with any directory mounted' },
  { name: 'CONTAINER_HOST', reason: 'starts containers with any directory mounted' },
  { name: 'CONTAINERD_ADDRESS', reason: 'starts containers with any directory mounted' },
  { name: 'BUILDKIT_HOST', reason: 'builds images outside' },
  { name: 'TMUX', reason: 'types into the panes of the tmux server' },
  { name: 'TMUX_PANE', reason: 'belongs to TMUX' },
  { name: 'STY', reason: 'types into the windows of screen' },
  { name: 'ZELLIJ*', reason: 'types into the panes of zellij' },
  { name: 'KITTY_LISTEN_ON', reason: 'runs commands in the terminal' },
  { name: 'WEZTERM_UNIX_SOCKET', reason: 'runs commands in the terminal' },
  { name: 'ALACRITTY_SOCKET', reason: 'runs commands in the terminal' },
  { name: 'WAYLAND_DISPLAY', reason: 'reads and writes the clipboard, shows windows' },
  { name: 'WAYLAND_SOCKET', reason: 'a descriptor the run does not get' },
  { name: 'DISPLAY', reason: 'sends keys to every window of the X server' },
  { name: 'SWAYSOCK', reason: 'runs commands through the window manager' },
  { name: 'I3SOCK', reason: 'runs commands through the window manager' },
  { name: 'HYPRLAND_INSTANCE_SIGNATURE', reason: 'runs commands through the window manager' },
  { name: 'PULSE_SERVER', reason: 'loads modules into the sound server' },
  { name: 'PIPEWIRE_REMOTE', reason: 'records sound and screen' },
  { name: 'VSCODE_IPC_HOOK*', reason: 'opens files and runs commands in the editor' },
  { name: 'VSCODE_GIT_IPC_HANDLE', reason: 'asks the editor for credentials' },
  { name: 'NVIM', reason: 'runs commands in the editor' },
  { name: 'NVIM_LISTEN_ADDRESS', reason: 'runs commands in the editor' },
  { name: 'NOTIFY_SOCKET', reason: "reports to the service manager in the service's name" },
  { name: 'WATCHDOG_PID', reason: 'belongs to NOTIFY_SOCKET' },
  { name: 'WATCHDOG_USEC', reason: 'belongs to NOTIFY_SOCKET' },
  { name: 'LISTEN_FDS', reason: 'descriptors the run does not get' },
  { name: 'LISTEN_PID', reason: 'belongs to LISTEN_FDS' },
  { name: 'LISTEN_FDNAMES', reason: 'belongs to LISTEN_FDS' },
  { name: 'NODE_CHANNEL_FD', reason: 'a descriptor the run does not get' },
  { name: 'NODE_CHANNEL_SERIALIZATION_MODE', reason: 'belongs to NODE_CHANNEL_FD' },
];

/** What the environment is made from. */
export interface EnvironmentRequest {
  readonly inherited: NodeJS.ProcessEnv;
  /** The caller's `env`; an undefined value removes the variable. */
  readonly given?: NodeJS.ProcessEnv | undefined;
  /** True (default): `given` is added to `inherited`; false: it is all there is. */
  readonly extend?: boolean | undefined;
  readonly isConfined: boolean;
  /** Whether the run has a private temp directory: then the variables that name one come from `tempEntries`. */
  readonly hasTemp: boolean;
}

/** The environment of a Run, but for where its private temp directory is. */
export interface RunEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** `NAME=value`, as execve takes it. */
  readonly entries: readonly string[];
  /** Names that were taken out, sorted. */
  readonly removed: readonly string[];
}

/**
 * Builds the environment. What the caller wrote out in `given` is kept, whatever its name; an entry of `given` that only
 * repeats an inherited one (`{ ...process.env }`) counts as inherited, unless `given` is all there is. Only the temp
 * variables are never the caller's where the run has a private directory: it can write no other.
 */
export function buildEnvironment(request: EnvironmentRequest): RunEnvironment {
  const { inherited, given = {}, extend = true, isConfined, hasTemp } = request;
  const variables: Record<string, string> = Object.create(null);
  const removed: string[] = [];
  const isRemoved = isConfined ? REMOVED_FROM_CONFINED : REMOVED_ALWAYS;
  // Names, then values: every other way to walk `process.env` asks it for each variable more than once.
  for (const name of extend ? Object.getOwnPropertyNames(inherited) : []) {
    if (Object.hasOwn(given, name)) continue;
    const value = inherited[name];
    if (value === undefined) continue;
    if (isRemoved(name)) removed.push(name);
    else variables[name] = value;
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const isWrittenOut = !extend || value !== inherited[name];
    if (!isWrittenOut && isRemoved(name)) removed.push(name);
    else variables[name] = value;
  }
  if (hasTemp) for (const name of TEMP_VARIABLES) delete variables[name];
  const entries: string[] = [];
  for (const name in variables) entries.push(`${name}=${variables[name]}`);
  return { variables, entries, removed: removed.sort() };
}

const TEMP_VARIABLES = ['TMPDIR', 'TMP', 'TEMP', 'TMPPREFIX'] as const;

/** `NAME=value` for every variable that names the private temp directory. */
export function tempEntries(temp: string): readonly string[] {
  return TEMP_VARIABLES.map((name) =>
    // zsh takes a prefix, not a directory, and falls back to `/tmp` without it.
    name === 'TMPPREFIX' ? `${name}=${temp}/zsh` : `${name}=${temp}`,
  );
}

/** A test for the names of the rows. */
function matcher(rows: readonly RemovedVariable[]): (name: string) => boolean {
  const names = rows.map((row) => row.name);
  const whole = new Set(names.filter((name) => !name.endsWith('*')));
  const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (name) => whole.has(name) || beginnings.some((each) => name.startsWith(each));
}

const REMOVED_ALWAYS = matcher([CORDON]);
const REMOVED_FROM_CONFINED = matcher([CORDON, ...REMOVED_VARIABLES]);
