/**
 * Names of variables, by what setting or printing them can do. Data.
 * @module
 */

/** Changes how a program prints, sorts or colours, and nothing it does to files. A `*` ends a name or begins it. */
const HARMLESS = [
  'LANG',
  'LANGUAGE',
  'LC_*',
  'TZ',
  'TERM',
  'COLORTERM',
  'NO_COLOR',
  'FORCE_COLOR',
  'CLICOLOR',
  'CLICOLOR_FORCE',
  'COLUMNS',
  'LINES',
  'CI',
  'DEBIAN_FRONTEND',
  'GIT_TERMINAL_PROMPT',
  'GIT_LITERAL_PATHSPECS',
  'GIT_NO_LAZY_FETCH',
  'TIME_STYLE',
  'BLOCK_SIZE',
  'BLOCKSIZE',
  'QUOTING_STYLE',
  'SOURCE_DATE_EPOCH',
  'PYTHONDONTWRITEBYTECODE',
  'PYTHONUNBUFFERED',
];

/** Makes the shell or a program run, load, read or write something else, whoever reads it. */
const POWERFUL = [
  'PATH',
  '*PATH',
  'IFS',
  'ENV',
  'BASH*',
  'SHELL*',
  'SHELLOPTS',
  'POSIXLY_CORRECT',
  'PS0',
  'PS1',
  'PS2',
  'PS3',
  'PS4',
  'PROMPT_COMMAND',
  'CDPATH',
  'GLOBIGNORE',
  'FIGNORE',
  'HISTFILE',
  'HISTTIMEFORMAT',
  'TIMEFORMAT',
  'HOME',
  'PWD',
  'OLDPWD',
  'OPTIND',
  'EXECIGNORE',
  'FUNCNEST',
  'INPUTRC',
  'TMPDIR',
  'TEMP',
  'TMP',
  'TMOUT',
  'XDG_*',
  'TEXTDOMAIN*',
  'LD_*',
  'DYLD_*',
  'GCONV_*',
  'LOCALDOMAIN',
  'HOSTALIASES',
  'NLSPATH',
  'RES_OPTIONS',
  'MALLOC_*',
  'GIT_*',
  'SSH_*',
  'GPG_*',
  'GNUPG*',
  'NODE_*',
  'NPM_*',
  'npm_*',
  'PYTHON*',
  'PERL*',
  'RUBY*',
  'JAVA*',
  'LUA_*',
  'PHP*',
  'GO*',
  'CARGO*',
  'RUST*',
  'CC',
  'CXX',
  'CPP',
  'LD',
  'MAKE*',
  'MAN*',
  'GROFF*',
  'LESS*',
  'MORE',
  'LV',
  'PAGER',
  '*PAGER',
  'EDITOR',
  '*EDITOR',
  'VISUAL',
  'BROWSER',
  'DISPLAY',
  'AWK*',
  'GAWK*',
  'GREP_*',
  'RIPGREP_*',
  'FZF_*',
  'BAT_*',
  'JQ_*',
  'TAR_*',
  'TAPE',
  'RSH',
  '*_RSH',
  'GZIP',
  'BZIP*',
  'XZ_*',
  'ZSTD_*',
  'ZIP*',
  'UNZIP*',
  'LZ4*',
  'PARINIT',
  'MAGIC',
  'LS_OPTIONS',
  'DIFF_*',
  'DATEMSK',
  'CURL_*',
  'OPENSSL_*',
  'SSL_*',
  '*_proxy',
  '*_PROXY',
  '*_OPTIONS',
  '*_OPTS',
  '*_FLAGS',
  '*_COMMAND',
  '*_CONFIG*',
  '*_RC',
  'DOCKER_*',
  'KUBE*',
  'AWS_*',
  'SYSTEMD_*',
  'DBUS_*',
  'SUDO_*',
];

/** The same, but always a number. */
const SHELL_NUMBER = /^(?:RANDOM|SRANDOM|SECONDS|EPOCHSECONDS|LINENO|BASHPID|UID|EUID|PPID|SHLVL)$/;

/** What values of such names usually are: nobody prints them without meaning to. */
const SECRET =
  /(?:^|_)(?:SECRETS?|TOKENS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|APIKEY|KEY|PAT|AUTH|COOKIE|SESSION|DSN)(?:_|$)|(?:PASSWORD|SECRET|TOKEN|APIKEY)$|^(?:DATABASE|REDIS|MONGO|MONGODB|POSTGRES|AMQP)_UR[IL]$/i;
const NO_SECRET = /^(?:PWD|OLDPWD|SSH_AUTH_SOCK|XDG_SESSION_.*|DESKTOP_SESSION|SESSION_MANAGER)$/;

/** Variables whose value the shell sets itself, out of what others chose: never a number that can be trusted. */
const SHELL_TEXT =
  /^(?:_|PWD|OLDPWD|REPLY|MAPFILE|OPTARG|DIRSTACK|FUNCNAME|HOSTNAME|BASH_.*|COMP_.*|READLINE_.*|COPROC|PIPESTATUS|OPTIND|GROUPS|HISTCMD|ARGV0)$/;

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

const isAmongHarmless = matcher(HARMLESS);
const isAmongPowerful = matcher(POWERFUL);

export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/** What a command that is allowed as a read is run with: another value would undo it. */
const HARMLESS_VALUES: Readonly<Record<string, string>> = { GIT_OPTIONAL_LOCKS: '0' };

/** Whether a program that finds it with that value in its environment does nothing else than without it. */
export function isHarmlessVariable(name: string, value: string | undefined): boolean {
  return isAmongHarmless(name) || (value !== undefined && HARMLESS_VALUES[name] === value);
}

/** Whether setting it changes what the shell does, or what programs do that may have it in their environment. */
export function isPowerfulVariable(name: string): boolean {
  return isAmongPowerful(name) && !isAmongHarmless(name);
}

export function isSecretVariable(name: string): boolean {
  return SECRET.test(name) && !NO_SECRET.test(name);
}

export function isShellText(name: string): boolean {
  return SHELL_TEXT.test(name);
}

export function isShellNumber(name: string): boolean {
  return SHELL_NUMBER.test(name);
}

function matcher(names: readonly string[]): (name: string) => boolean {
  const sources = names.map((name) => name.replaceAll('*', '.*'));
  const pattern = new RegExp(`^(?:${sources.join('|')})$`);
  return (name) => pattern.test(name);
}
