export interface HeaderSource {
  readonly nodedir: string;
  readonly origin: 'beside node' | 'npm nodedir' | 'node-api-headers';
}

export function findHeaders(
  buildFolder: string,
  host?: {
    readonly execPath?: string;
    readonly env?: Readonly<Record<string, string | undefined>>;
  },
): HeaderSource | undefined;
