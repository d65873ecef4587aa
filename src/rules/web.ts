/**
 * Addresses of the web as rules see them: read by the standard every browser follows, and by whatever else a program might
 * read them by, so that no spelling hides a host.
 * @module
 */

import { domainToASCII, URL } from 'node:url';

/** An address that was read. */
export interface WebAddress {
  /** Every host that some reader would take from it: lower case, ASCII, without `www.` and a dot at the end. */
  readonly hosts: readonly string[];
  /** The address written out, and its host; empty where readers may differ. For rules that allow. */
  readonly allowed: readonly string[];
  /** The text, the address written out, every host and the domains above it. For rules that restrict. */
  readonly spellings: readonly string[];
  /** The file that it names, when it names one of this machine. */
  readonly file: string | undefined;
}

/** Reads an address, also one without a scheme. Undefined when no host and no file can be made out. */
export function webAddress(text: string): WebAddress | undefined {
  const url = parse(text) ?? parse(`https://${text.replace(/^[\s/\\]+/, '')}`);
  const bare = hasScheme(text) ? undefined : parse(`https://${text.replace(/^[\s/\\]+/, '')}`);
  if (url?.protocol === 'file:') return fileAddress(text, url);
  const read = [url, bare].flatMap((each) => hostOf(each?.hostname) ?? []);
  const plain = hostOf(authorityOf(text));
  const hosts = [...new Set([...read, ...(plain === undefined ? [] : [plain])])];
  if (hosts.length === 0) return undefined;
  const written = [url, bare].flatMap((each) => (each === undefined ? [] : [each.href]));
  return {
    hosts,
    allowed: hosts.length === 1 && url !== undefined ? [url.href, ...hosts] : [],
    spellings: [...new Set([text, ...written, ...hosts.flatMap(domainsOf)])],
    file: undefined,
  };
}

/** A host as it is compared: the same for every way to write it. Undefined for what is none. */
export function hostOf(name: string | undefined): string | undefined {
  if (name === undefined || name === '') return undefined;
  const ascii = name.startsWith('[') ? name.toLowerCase() : domainToASCII(name.toLowerCase());
  const bare = ascii.replace(/\.+$/, '').replace(/^www\.(?=.*\.)/, '');
  return bare === '' ? undefined : bare;
}

function parse(text: string): URL | undefined {
  try {
    const url = new URL(text);
    return url.hostname === '' && url.protocol !== 'file:' ? undefined : url;
  } catch {
    return undefined;
  }
}

function hasScheme(text: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]*:[/\\]{2}/i.test(text);
}

/** What stands between `//` and the next slash, as those read it to whom a backslash is an ordinary character. */
function authorityOf(text: string): string | undefined {
  const authority = /^\s*(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)/i.exec(text)?.[1];
  const host = authority?.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '');
  return host === undefined || /[\\\s]/.test(host) ? undefined : host;
}

function fileAddress(text: string, url: URL): WebAddress {
  const file = decoded(url.pathname);
  return { hosts: [], allowed: [], spellings: [text, url.href, file], file };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const ADDRESS_NUMBER = /^(?:\d+\.){3}\d+$|^\[/;

/** The host and every domain above it. */
function domainsOf(host: string): readonly string[] {
  if (ADDRESS_NUMBER.test(host)) return [host];
  const labels = host.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}
