// planted: lint/suspicious/noExplicitAny
export function anything(value: any): string {
  return String(value);
}

// planted: lint/style/noEnum
export enum Level {
  Full = 'full',
}

// planted: lint/style/noDefaultExport
export default function nameless(): void {}

export function fail(): never {
  // planted: lint/style/useThrowOnlyError
  throw 'a string';
}

export function level(name: 'full' | 'partial'): number {
  // planted: lint/nursery/useExhaustiveSwitchCases
  switch (name) {
    case 'full':
      return 1;
  }
  return 0;
}
