/**
 * Package managers, build tools and interpreters: they run code of the project, but for the forms that print what they
 * are. Not among those: what a file of the directory may make another program of first (`go`, `cargo`, `rustc`).
 * @module
 */

import type { Program } from '../effect.js';
import { namedPrograms } from './named.js';

export const PACKAGE_PROGRAMS: Readonly<Record<string, Program>> = namedPrograms([
  {
    names: 'npm',
    is: 'unknown',
    reason: 'downloads, writes logs and caches, or runs code of the project',
    prints: ['--version', '-v'],
  },
  {
    names: `npx pnpm pnpx yarn bun bunx deno corepack pip pip3 pipx uv uvx poetry pdm pipenv
      conda mamba hatch gem bundle bundler composer cargo rustup go dotnet nuget mvn gradle sbt mix
      cabal stack opam luarocks cpan cpanm`,
    is: 'unknown',
    reason: 'downloads, writes caches, or runs code of the project',
  },
  {
    names: `apt apt-get aptitude dpkg rpm yum dnf pacman zypper apk brew port snap flatpak nix
      nix-env nix-shell guix emerge`,
    is: 'unknown',
    reason: 'installs programs, or asks what is installed',
    prints: ['--version'],
  },
  {
    names: 'make gmake',
    is: 'unknown',
    reason: 'runs what the project says',
    prints: ['--version', '-v', '--help', '-h'],
  },
  {
    names: 'cmake ctest cpack ninja meson scons',
    is: 'unknown',
    reason: 'runs what the project says',
    prints: ['--version'],
  },
  {
    names: `bazel buck rake just task invoke fab tox nox pytest py.test jest vitest mocha ava
      phpunit rspec tsc eslint prettier webpack vite rollup turbo nx lerna pre-commit husky`,
    is: 'unknown',
    reason: 'runs code of the project',
  },
  {
    names: 'gcc g++ cc c++ clang clang++ ld as ar',
    is: 'unknown',
    reason: 'writes what it makes',
    prints: ['--version', '-dumpversion', '-dumpmachine'],
  },
  {
    names: 'rustc javac java kotlinc scalac ghc zig swift swiftc',
    is: 'unknown',
    reason: 'compiles or runs code',
  },
  {
    names: 'node nodejs',
    is: 'unknown',
    reason: 'runs code',
    prints: ['--version', '-v', '--help', '-h'],
  },
  {
    names: 'python python2 python3 pypy3',
    is: 'unknown',
    reason: 'runs code',
    prints: ['--version', '-V', '-VV', '--help', '-h'],
  },
  {
    names: 'perl ruby php lua luajit Rscript R julia guile tclsh wish expect ipython',
    is: 'unknown',
    reason: 'runs code',
    prints: ['--version', '-v'],
  },
]);
