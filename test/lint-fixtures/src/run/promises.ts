async function work(): Promise<number> {
  return 1;
}

export function start(): void {
  // planted: lint/nursery/noFloatingPromises
  work();
}

export async function chained(): Promise<void> {
  // planted: lint/nursery/noFloatingPromises
  work().then((value) => value + 1);
}

export function arrow(): void {
  const later = async (): Promise<void> => {};
  // planted: lint/nursery/noFloatingPromises
  later();
}

export function condition(): string {
  // planted: lint/nursery/noMisusedPromises
  if (work()) return 'always';
  return 'never';
}
