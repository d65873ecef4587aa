/**
 * Programs that ask for other rights, change the machine, make work that runs later, or signal processes. Data.
 * @module
 */

import type { Effect, Program, Token } from '../effect.js';
import { type NamedRow, namedPrograms } from './named.js';
import { is } from './table.js';

const RIGHTS: readonly NamedRow[] = [
  {
    names: `sudo sudoedit su doas pkexec run0 runuser dzdo pfexec gosu su-exec calife sux kdesu
      gksu gksudo newgrp sg setpriv capsh visudo vipw vigr machinectl`,
    is: 'privilege',
    reason: 'asks for the rights of another',
  },
  {
    names: 'systemd-run',
    is: 'privilege',
    reason: 'asks the system to run it, where nothing confines it',
    unless: [{ words: '--user', is: 'unknown' }],
  },
];

const MACHINE: readonly NamedRow[] = [
  {
    names: 'shutdown reboot halt poweroff init telinit kexec pm-suspend pm-hibernate',
    is: 'host-state',
    reason: 'stops or restarts the machine',
  },
  {
    names: `mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs
      mkfs.exfat mke2fs mkswap mkdosfs fdisk sfdisk cfdisk gdisk sgdisk parted partprobe wipefs
      blkdiscard blockdev hdparm tune2fs resize2fs e2fsck fsck debugfs xfs_repair badblocks
      cryptsetup mdadm losetup dmsetup lvm lvcreate lvremove lvextend lvresize vgcreate vgremove
      pvcreate pvremove zpool zfs swapon swapoff fstrim efibootmgr grub-install`,
    is: 'host-state',
    reason: 'changes disks',
  },
  {
    names: 'mount',
    is: 'host-state',
    reason: 'changes what is mounted',
    prints: ['', '-l', '-V', '--version', '-h', '--help'],
  },
  { names: 'umount pivot_root switch_root', is: 'host-state', reason: 'changes what is mounted' },
  {
    names: 'insmod rmmod modprobe depmod kmod dkms bpftool',
    is: 'host-state',
    reason: 'changes the kernel',
  },
  {
    names: `iptables ip6tables iptables-restore ip6tables-restore ebtables arptables nft ufw
      firewall-cmd ipset tc brctl rfkill iwconfig nmcli wg wg-quick ifup ifdown dhclient`,
    is: 'host-state',
    reason: 'changes the network of the machine',
    prints: ['--version', '-V'],
  },
  {
    names: `useradd userdel usermod adduser deluser groupadd groupdel groupmod addgroup delgroup
      newusers passwd chpasswd chgpasswd gpasswd chage pwconv pwunconv grpconv grpunconv`,
    is: 'host-state',
    reason: 'changes accounts',
  },
  {
    names: 'hwclock ntpdate chronyd setenforce setsebool update-grub update-initramfs ldconfig',
    is: 'host-state',
    reason: 'changes the state of the machine',
  },
  {
    names: 'timedatectl hostnamectl localectl',
    is: 'unknown',
    reason: 'asks the system',
    unless: [
      {
        words:
          'set-time set-timezone set-local-rtc set-ntp hostname set-hostname set-icon-name ' +
          'set-chassis set-deployment set-location set-locale set-keymap set-x11-keymap',
        is: 'host-state',
      },
    ],
  },
  {
    names: 'systemctl',
    is: 'unknown',
    reason: 'asks the system about its units, or to change them',
    prints: ['--version', '--help'],
    unless: [
      {
        words:
          'reboot poweroff halt kexec suspend hibernate hybrid-sleep suspend-then-hibernate ' +
          'rescue emergency isolate default switch-root soft-reboot',
        is: 'host-state',
      },
      {
        words: 'enable reenable link edit preset preset-all add-wants add-requires set-default',
        is: 'persistence',
      },
    ],
  },
  {
    names: 'service loginctl journalctl coredumpctl networkctl',
    is: 'unknown',
    reason: 'asks the system',
    unless: [{ words: 'enable-linger', is: 'persistence' }],
  },
];

const LATER: readonly NamedRow[] = [
  {
    names: 'crontab',
    is: 'persistence',
    reason: 'concerns work that is run later',
    prints: ['-V'],
    unless: [{ words: '-l', is: 'outside-read' }],
  },
  { names: 'atq', is: 'outside-read', reason: 'reads which work is run later' },
  {
    names: `at batch anacron fcrontab launchctl chsh chfn update-rc.d chkconfig rc-update
      update-alternatives schtasks xdg-autostart xdg-mime xdg-settings`,
    is: 'persistence',
    reason: 'sets what is run later',
  },
];

const SIGNALS: readonly NamedRow[] = [
  {
    names: 'pkill killall killall5 xkill skill snice fuser renice prlimit',
    is: 'unknown',
    reason: 'signals or changes processes that it finds',
    prints: ['--version', '-V', '--help', '-l'],
  },
  {
    names: 'gdb lldb ptrace perf bpftrace',
    is: 'unknown',
    reason: 'takes hold of other processes',
  },
];

/**
 * Signals processes; 0 only asks whether they are there, `-l` prints the names of signals. Of several signals the last
 * one is sent.
 */
export const kill: Program = (call) => {
  const [first, second] = call.args;
  const rest = call.args.slice(1);
  if (first === undefined || first.value === '-l' || first.value === '-L') {
    return { effects: rest.some(isOption) ? signals(call.program) : [] };
  }
  if (first.value === '-0') return { effects: rest.some(isOption) ? signals(call.program) : [] };
  const asks = (first.value === '-s' || first.value === '-n') && second?.value === '0';
  const others = call.args.slice(2);
  return { effects: asks && !others.some(isOption) ? [] : signals(call.program) };
};

/** Numbers of processes that the shell knows. */
const NUMBERS: readonly string[] = ['$$', '$!', '$PPID'];

/** Whether it is, or may become, a word with a dash: another signal. */
function isOption({ text, value, prefix, splits }: Token): boolean {
  if (value !== undefined) return value.startsWith('-');
  if (NUMBERS.includes(text)) return false;
  return splits || prefix.startsWith('-');
}

function signals(token: Token): readonly Effect[] {
  return [is(token, 'unknown', '`kill` signals processes')];
}

export const HOST_PROGRAMS: Readonly<Record<string, Program>> = {
  ...namedPrograms([...RIGHTS, ...MACHINE, ...LATER, ...SIGNALS]),
  kill,
};
