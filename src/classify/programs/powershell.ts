/**
 * Cmdlets of PowerShell that only read.
 * @module
 */

import type { Effect, Program, Token } from '../effect.js';
import { is } from './table.js';

/** They read the paths they are given. */
const READERS = `Get-ChildItem Get-Content Select-String Test-Path Get-Item Get-ItemProperty
  Get-FileHash Resolve-Path Get-Acl Compare-Object Import-Csv`;

/** They work on what comes through the pipe, or print what they are given. */
const FILTERS = `Select-Object Sort-Object Group-Object Measure-Object Where-Object Format-Table
  Format-List Format-Wide Out-String Out-Null Out-Host Write-Output Write-Host ConvertTo-Json
  ConvertFrom-Json ConvertTo-Csv ConvertFrom-Csv Get-Member Get-Unique Get-Location Get-Date
  Get-Process Split-Path Join-Path Get-Random New-TimeSpan`;

/** Their value is no path. */
const PLAIN_VALUES =
  /^-(?:Pattern|Filter|Include|Exclude|First|Last|Skip|Tail|TotalCount|Head|Depth|Property|Encoding|Context|Name|Algorithm|PathType|Delimiter|ReadCount|Attributes|Header)$/i;

/** A script block, an expression or a member that is called: code. */
const CODE = /[{}()@$;`&|]/;

const reader: Program = (call) => {
  const effects: Effect[] = [];
  let isPlain = false;
  for (const word of call.args) {
    const text = word.value ?? word.prefix;
    if (isCode(word)) effects.push(codeIn(word));
    else if (text.startsWith('-')) isPlain = PLAIN_VALUES.test(text);
    else {
      if (!isPlain) effects.push({ kind: 'read', path: text, token: word });
      isPlain = false;
    }
  }
  return { effects };
};

const filter: Program = (call) => ({ effects: call.args.filter(isCode).map(codeIn) });

function isCode(word: Token): boolean {
  if (word.value !== undefined) return CODE.test(word.value);
  return word.pattern === undefined || CODE.test(word.pattern);
}

function codeIn(word: Token): Effect {
  return is(word, 'unknown', `\`${word.text}\` may be code that is run`);
}

const named = (names: string, program: Program): readonly (readonly [string, Program])[] =>
  names.split(/\s+/).map((name) => [name, program] as const);

export const POWERSHELL_PROGRAMS: Readonly<Record<string, Program>> = Object.fromEntries([
  ...named(READERS, reader),
  ...named(FILTERS, filter),
]);
