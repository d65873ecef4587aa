// planted: lint/suspicious/noImportCycles
import { second } from './cycle-b.js';

export const first = (): number => second() + 1;
