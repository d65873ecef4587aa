/**
 * Which settings may be given to git with `-c` and still leave a reading subcommand one. Data, and one lookup.
 * @module
 */

import { startsPrograms } from './formats.js';

interface SettingRow {
  /** Lower case. */
  readonly key: RegExp;
  readonly accepts?: RegExp;
  readonly formats?: true;
}

const SWITCH = /^(?:|true|false|yes|no|on|off|0|1)$/i;
const OFF = /^(?:|false|no|off|0)$/i;

const ROWS: readonly SettingRow[] = [
  { key: /^color\./ },
  { key: /^column\.[a-z]+$/ },
  { key: /^advice\.[a-z0-9]+$/ },
  { key: /^status\.[a-z]+$/ },
  { key: /^i18n\.(?:commitencoding|logoutputencoding)$/ },
  {
    key: /^core\.(?:quotepath|abbrev|longpaths|precomposeunicode|ignorecase|filemode|symlinks)$/,
  },
  { key: /^core\.(?:preloadindex|untrackedcache|commitgraph|multipackindex|bigfilethreshold)$/ },
  { key: /^core\.(?:autocrlf|safecrlf|eol|whitespace|commentchar|warnambiguousrefs|checkstat)$/ },
  { key: /^core\.(?:fsmonitor|logallrefupdates)$/, accepts: OFF },
  { key: /^core\.hookspath$/, accepts: /^\/dev\/null$/ },
  { key: /^core\.pager$/, accepts: /^(?:cat)?$/ },
  { key: /^core\.editor$/, accepts: /^(?:true|:)$/ },
  { key: /^pager\.[a-z-]+$/, accepts: OFF },
  {
    key: /^log\.(?:abbrevcommit|date|decorate|excludedecoration|follow|graphcolors|mailmap|showroot|initialdecorationset)$/,
  },
  { key: /^(?:format\.pretty|log\.format)$/, formats: true },
  {
    key: /^diff\.(?:algorithm|autorefreshindex|colormoved|colormovedws|context|dirstat|ignoresubmodules|indentheuristic|interhunkcontext|mnemonicprefix|noprefix|dstprefix|srcprefix|relative|renamelimit|renames|statgraphwidth|statnamewidth|submodule|suppressblankempty|wordregex|wserrorhighlight)$/,
  },
  {
    key: /^grep\.(?:column|extendedregexp|fallbacktonoindex|fullname|linenumber|patterntype|threads)$/,
  },
  { key: /^blame\.(?:blankboundary|coloring|date|showemail|showroot)$/ },
  { key: /^(?:branch|tag)\.sort$|^versionsort\.[a-z]+$/, accepts: /^(?!.*signature)/ },
  {
    key: /^(?:gc\.auto|maintenance\.auto|commit\.gpgsign|tag\.gpgsign|log\.showsignature)$/,
    accepts: OFF,
  },
  { key: /^(?:fetch|submodule)\.recurse(?:submodules)?$/, accepts: SWITCH },
  { key: /^user\.(?:name|email)$/ },
  { key: /^init\.defaultbranch$/ },
  { key: /^safe\.directory$/ },
];

/** Whether `key=value`, or `key` alone, only changes what is printed. */
export function isHarmlessSetting(setting: string): boolean {
  const equals = setting.indexOf('=');
  const key = (equals < 0 ? setting : setting.slice(0, equals)).toLowerCase();
  const value = equals < 0 ? 'true' : setting.slice(equals + 1);
  const row = ROWS.find((candidate) => candidate.key.test(key));
  if (row === undefined) return false;
  if (row.formats) return !startsPrograms(value);
  return row.accepts === undefined || row.accepts.test(value);
}
