/**
 * Every ordinary program that reads, and the classic ones that write, by name.
 * @module
 */

import type { Program } from '../effect.js';
import { ARCHIVE_PROGRAMS } from './archives.js';
import { AWK_PROGRAMS } from './awk.js';
import { COMPARE_PROGRAMS } from './compare.js';
import { FILE_PROGRAMS } from './files.js';
import { FIND_PROGRAMS } from './find.js';
import { MACHINE_PROGRAMS } from './machine.js';
import { OPENSSL_PROGRAMS } from './openssl.js';
import { PRINTING_PROGRAMS } from './printing.js';
import { SEARCH_PROGRAMS } from './search.js';
import { SED_PROGRAMS } from './sed.js';
import { STRUCTURED_PROGRAMS } from './structured.js';
import { TEXT_PROGRAMS } from './text.js';
import { VIEW_PROGRAMS } from './view.js';

export const READING_PROGRAMS: Readonly<Record<string, Program>> = {
  ...TEXT_PROGRAMS,
  ...OPENSSL_PROGRAMS,
  ...PRINTING_PROGRAMS,
  ...FILE_PROGRAMS,
  ...SEARCH_PROGRAMS,
  ...FIND_PROGRAMS,
  ...SED_PROGRAMS,
  ...AWK_PROGRAMS,
  ...COMPARE_PROGRAMS,
  ...VIEW_PROGRAMS,
  ...STRUCTURED_PROGRAMS,
  ...ARCHIVE_PROGRAMS,
  ...MACHINE_PROGRAMS,
};
