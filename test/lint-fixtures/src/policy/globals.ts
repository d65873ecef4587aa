export function here(): string {
  // planted: lint/style/noRestrictedGlobals
  return process.cwd();
}

export function later(then: () => void): void {
  // planted: lint/style/noRestrictedGlobals
  setTimeout(then, 1);
}

export function around(): unknown {
  // planted: lint/style/noRestrictedGlobals
  return globalThis;
}

export function say(words: string): void {
  // planted: lint/style/noRestrictedGlobals
  console.log(words);
}
