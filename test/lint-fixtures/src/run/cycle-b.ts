// planted: lint/suspicious/noImportCycles
import { first } from './cycle-a.js';

export const second = (): number => first() + 1;
