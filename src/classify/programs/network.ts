/**
 * Programs whose purpose is to reach another machine, or a server that nothing confines. Data.
 * @module
 */

import type { Program } from '../effect.js';
import { namedPrograms } from './named.js';

const VERSION = ['--version', '--help'];

export const NETWORK_PROGRAMS: Readonly<Record<string, Program>> = namedPrograms([
  {
    names: 'curl wget wget2 aria2c http https xh axel rclone youtube-dl yt-dlp',
    is: 'network',
    reason: 'fetches from the network or sends to it',
    prints: [...VERSION, '-V'],
  },
  {
    names: 'w3m lynx links elinks browsh',
    is: 'network',
    reason: 'opens pages of the network',
  },
  {
    names: `ssh scp sftp slogin mosh autossh sshfs ssh-copy-id ssh-keyscan rsh rlogin telnet ftp
      tftp lftp ncftp rsync croc`,
    is: 'network',
    reason: 'reaches another machine',
    prints: ['-V', '--version'],
  },
  {
    names: 'nc ncat netcat socat nmap masscan tcpdump tshark iperf iperf3',
    is: 'network',
    reason: 'speaks to the network',
  },
  {
    names: `dig nslookup host whois ping ping6 fping traceroute traceroute6 tracepath mtr arping
      drill resolvectl avahi-browse avahi-resolve`,
    is: 'network',
    reason: 'asks the network, and what is asked can carry data out',
  },
  {
    names: 'mail mailx sendmail mutt msmtp swaks',
    is: 'network',
    reason: 'sends mail',
  },
  {
    names: `gh glab hub tea aws gcloud gsutil bq az doctl heroku vercel netlify flyctl fly
      wrangler firebase s3cmd linode-cli hcloud oci ibmcloud kubectl oc helm k9s kustomize argocd
      istioctl eksctl terraform tofu terragrunt pulumi ansible ansible-playbook packer vagrant
      nomad consul vault`,
    is: 'network',
    reason: 'acts on what is kept elsewhere',
    prints: VERSION,
  },
  {
    names: `psql pg_dump pg_restore createdb dropdb mysql mysqldump mariadb mongosh mongo redis-cli
      cqlsh influx clickhouse-client`,
    is: 'network',
    reason: 'speaks to a database',
    prints: VERSION,
  },
  {
    names: `docker docker-compose podman podman-compose nerdctl ctr crictl buildah skopeo lxc lxd
      incus virsh limactl colima minikube kind multipass`,
    is: 'unknown',
    reason: 'asks a server that nothing confines',
    prints: ['--version'],
  },
  {
    names: 'tmux screen zellij byobu dtach abduco emacsclient',
    is: 'unknown',
    reason: 'asks a server that nothing confines to run it',
    prints: ['-V', '--version'],
  },
  {
    names: `dbus-send gdbus busctl qdbus notify-send xdg-open gio open osascript wl-copy wl-paste
      xclip xsel xdotool adb fastboot`,
    is: 'unknown',
    reason: 'asks another program that nothing confines',
  },
]);
