/**
 * What `hide: ["secrets"]` stands for: where keys, credentials and tokens usually lie. Data.
 *
 * Only what nobody needs to read who does not use it. `known_hosts`, `~/.ssh/config`, public keys and the configuration of
 * tools that is no secret stay readable, so that ssh by an agent and git go on working.
 * @module
 */

import type { HiddenClass } from './protection.js';

export interface SecretPlace {
  readonly class: HiddenClass;
  /** Beneath each home directory; absolute ones as they are. With `*` in its last component every name that fits. */
  readonly paths: readonly string[];
  /** Names that fit a `*` and are no secret; ends of names. */
  readonly except?: readonly string[];
}

/** Names of the word in `hide`. */
export const SECRETS = 'secrets';

export const SECRET_PLACES: readonly SecretPlace[] = [
  {
    class: 'private-keys',
    paths: ['.ssh/*'],
    // A name of one's own is ordinary for a key, so everything else is taken for one.
    except: [
      '.pub',
      'config',
      'config.d',
      'known_hosts',
      'known_hosts.old',
      'known_hosts2',
      'authorized_keys',
      'authorized_keys2',
      'allowed_signers',
      'environment',
      'rc',
      '.sock',
    ],
  },
  {
    class: 'private-keys',
    paths: [
      '.gnupg/private-keys-v1.d',
      '.gnupg/secring.gpg',
      '.putty/*.ppk',
      '.config/age',
      '.config/sops/age',
      '.local/share/keyrings',
      '.local/share/kwalletd',
      '.password-store',
      '.electrum/wallets',
      '.bitcoin/wallets',
      '.ethereum/keystore',
      '/etc/ssh/ssh_host_*_key',
      '/etc/ssl/private',
      '/etc/wireguard',
      '/etc/shadow',
      '/etc/shadow-',
      '/etc/gshadow',
      '/etc/gshadow-',
    ],
  },
  {
    class: 'cloud-credentials',
    paths: [
      '.aws/credentials',
      '.aws/sso/cache',
      '.aws/cli/cache',
      '.azure',
      '.config/gcloud',
      '.boto',
      '.kube',
      '.oci',
      '.aliyun',
      '.bluemix',
      '.config/doctl',
      '.config/hcloud',
      '.config/rclone',
      '.config/scaleway',
      '.config/openstack',
      '.digitalocean',
      '.linode-cli',
      '.fly',
      '.terraform.d/credentials.tfrc.json',
      '.terraformrc',
      '.pulumi/credentials.json',
      '.vault-token',
      '.s3cfg',
    ],
  },
  {
    class: 'tokens',
    paths: [
      '.git-credentials',
      '.config/git/credentials',
      '.netrc',
      '.npmrc',
      '.yarnrc.yml',
      '.pypirc',
      '.config/pip/pip.conf',
      '.pip/pip.conf',
      '.gem/credentials',
      '.cargo/credentials',
      '.cargo/credentials.toml',
      '.composer/auth.json',
      '.config/composer/auth.json',
      '.m2/settings.xml',
      '.m2/settings-security.xml',
      '.gradle/gradle.properties',
      '.nuget/NuGet/NuGet.Config',
      '.docker/config.json',
      '.config/containers/auth.json',
      '.config/gh/hosts.yml',
      '.config/glab-cli/config.yml',
      '.config/hub',
      '.config/netlify',
      '.config/heroku',
      '.config/configstore',
      '.config/op',
      '.config/Bitwarden CLI',
      '.config/github-copilot',
      '.cache/huggingface/token',
      '.huggingface/token',
      '.kaggle/kaggle.json',
      '.claude/.credentials.json',
      '.codex/auth.json',
      '.pgpass',
      '.my.cnf',
      '.mylogin.cnf',
      '.dbshell',
      '.sentryclirc',
      '.wakatime.cfg',
    ],
  },
  {
    class: 'browser-profiles',
    paths: [
      '.mozilla',
      '.config/google-chrome',
      '.config/google-chrome-beta',
      '.config/google-chrome-unstable',
      '.config/chromium',
      '.config/BraveSoftware',
      '.config/microsoft-edge',
      '.config/opera',
      '.config/vivaldi',
      '.thunderbird',
      'snap/firefox',
      'snap/chromium',
      '.var/app/org.mozilla.firefox',
      '.var/app/com.google.Chrome',
      '.var/app/org.chromium.Chromium',
      '.var/app/com.brave.Browser',
    ],
  },
];
