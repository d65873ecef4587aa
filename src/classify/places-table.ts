/**
 * Places of a machine, by what reading or writing them means. Data.
 * @module
 */

/** Reading one of these, or beneath it, tells what everybody knows of the system. */
export const SYSTEM_READ = [
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/usr',
  '/sys',
  '/etc/os-release',
  '/etc/lsb-release',
  '/etc/debian_version',
  '/etc/redhat-release',
  '/etc/fedora-release',
  '/etc/centos-release',
  '/etc/alpine-release',
  '/etc/arch-release',
  '/etc/SuSE-release',
  '/etc/system-release',
  '/etc/issue',
  '/etc/timezone',
  '/etc/localtime',
  '/etc/locale.conf',
  '/etc/locale.gen',
  '/etc/default/locale',
  '/etc/shells',
  '/etc/services',
  '/etc/protocols',
  '/etc/mime.types',
  '/etc/magic',
  '/etc/nsswitch.conf',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/ld.so.cache',
  '/etc/alternatives',
  '/etc/ssl/certs',
  '/etc/ca-certificates',
  '/proc/cpuinfo',
  '/proc/meminfo',
  '/proc/version',
  '/proc/loadavg',
  '/proc/uptime',
  '/proc/stat',
  '/proc/mounts',
  '/proc/filesystems',
  '/proc/partitions',
  '/proc/swaps',
  '/proc/diskstats',
  '/proc/vmstat',
  '/proc/modules',
  '/proc/devices',
  '/proc/self/status',
  '/proc/self/cgroup',
  '/proc/self/mountinfo',
  '/proc/self/mounts',
  '/proc/self/limits',
  '/proc/sys',
] as const;

/** Nothing but listing them. */
export const SYSTEM_LISTS = ['/', '/dev', '/proc'] as const;

/** Device files that hold nothing and change nothing. */
export const SINKS =
  /^\/dev\/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd\/\d+|ptmx)$|^\/proc\/(?:self|thread-self)\/fd\/\d+$/;

/** Pseudo files of the shell that open a connection. */
export const SOCKETS = /^\/dev\/(?:tcp|udp)\//;

/** Devices that are files like others. */
export const FILE_DEVICES = /^\/dev\/(?:shm|mqueue|pts)(?:\/|$)/;

/** Writing one of these, or beneath it, makes something run later. */
export const PERSISTENT_PLACES = [
  '/etc/profile',
  '/etc/profile.d',
  '/etc/bash.bashrc',
  '/etc/bashrc',
  '/etc/zsh',
  '/etc/environment',
  '/etc/rc.local',
  '/etc/init.d',
  '/etc/inittab',
  '/etc/cron.d',
  '/etc/cron.daily',
  '/etc/cron.hourly',
  '/etc/cron.weekly',
  '/etc/cron.monthly',
  '/etc/crontab',
  '/etc/anacrontab',
  '/etc/systemd',
  '/etc/udev',
  '/etc/xdg/autostart',
  '/etc/ld.so.preload',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/pam.d',
  '/etc/ssh',
  '/etc/passwd',
  '/etc/group',
  '/etc/gitconfig',
  '/etc/apt',
  '/etc/modprobe.d',
  '/etc/modules-load.d',
  '/etc/update-motd.d',
  '/var/spool/cron',
  '/var/spool/at',
  '/lib/systemd',
  '/usr/lib/systemd',
  '/usr/local/lib/systemd',
  '/run/systemd',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/usr/bin',
  '/usr/sbin',
  '/usr/lib',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/usr/local/lib',
  '/boot',
] as const;

/** The same beneath a home directory. */
export const PERSISTENT_HOME_PLACES = [
  '.local/bin',
  'bin',
  '.local/share/applications',
  '.local/share/systemd',
  '.local/share/dbus-1',
  '.config/systemd',
  '.config/autostart',
  '.config/environment.d',
  '.config/fish',
  '.config/git',
  '.config/cron',
  '.cargo/bin',
  '.cargo/env',
  '.cargo/config.toml',
  'go/bin',
  '.npm-global/bin',
  '.oh-my-zsh',
  '.zsh',
  '.bashrc.d',
  '.profile.d',
  '.ssh',
  '.gnupg',
  '.kde/Autostart',
  'Library/LaunchAgents',
] as const;

/** Files beneath `.git` that make git run something, or say where it finds them. */
export const GIT_PLACES = ['hooks', 'config', 'config.worktree', 'info/attributes'] as const;

/** Names of files that often hold a secret, wherever they stand. */
export const SECRET_LIKE_NAMES = [
  '.env',
  '.env.*',
  '*.env',
  '.envrc',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.pgpass',
  '.git-credentials',
  '.htpasswd',
  '.dockercfg',
  '.vault-token',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
  '*.jks',
  '*.keystore',
  '*.kdbx',
  '*.ppk',
  '*.tfstate',
  '*.tfvars',
  'credentials',
  'credentials.json',
  'secrets.json',
  'secrets.yml',
  'secrets.yaml',
  'secrets.toml',
  'service-account*.json',
  'wp-config.php',
  'master.key',
] as const;

/** Names that fit, and are made to be read. */
export const SECRET_LIKE_EXCEPT =
  /^(?:\.env|[^.].*\.env|\.env\..*)\.(?:example|sample|template|dist|defaults?|schema)$|^(?:example|sample|template)\.env$|\.pub$/;

/** Names of private keys, wherever they stand. */
export const PRIVATE_KEYS = /^id_(?:rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk)$/;

/** What of a process gives away its environment or its memory. */
export const PROCESS_SECRETS =
  /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem|auxv)$|^\/proc\/kcore$/;

/** Homes of accounts. What is named as a directory of the system is was reached by one `..` too few, and is none. */
export const HOMES =
  /^\/(?:home|Users|export\/home|var\/home)\/(?!(?:bin|dev|etc|lib|opt|proc|run|srv|sys|tmp|usr|var|lost\+found)(?:\/|$))[^/]+/;
