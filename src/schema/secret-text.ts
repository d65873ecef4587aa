/**
 * Text that looks like a credential: it must not be kept in a file of rules, which is read, shared and shown. Data.
 * @module
 */

interface SecretShape {
  /** What it is taken for, to stand after "holds ". */
  readonly words: string;
  readonly shape: RegExp;
}

/** A value that says something: not a wildcard, a variable, or a placeholder in brackets. */
const VALUE = String.raw`["']?(?![*?$<{%"'\s])[^\s"'*?]{4,}`;
const NAMES =
  '(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|(?:api|access|auth|private|secret|signing|encryption)[-_]?key)';

/** Every shape is one run over the text: no part of one can match what the part before it has. */
const SHAPES: readonly SecretShape[] = [
  { words: 'a private key', shape: /-----BEGIN [A-Z ]*PRIVATE KEY/ },
  {
    words: 'a token of GitHub',
    shape: /\b(?:gh[oprsu]_[A-Za-z0-9]{16}|github_pat_[A-Za-z0-9_]{16})/,
  },
  { words: 'a token of GitLab', shape: /\bgl(?:pat|ptt|dt|rt|cbt|agent|soat)-[A-Za-z0-9_-]{16}/ },
  { words: 'a key of AWS', shape: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/ },
  { words: 'a key of Google', shape: /\bAIza[A-Za-z0-9_-]{30}/ },
  { words: 'a token of Slack', shape: /\bxox[abeoprs]-[A-Za-z0-9-]{10}/ },
  { words: 'a key of a model provider', shape: /\bsk-[A-Za-z0-9_-]{16}/ },
  { words: 'a key of Stripe', shape: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{10}/ },
  { words: 'a token of npm', shape: /\bnpm_[A-Za-z0-9]{30}/ },
  { words: 'a token of PyPI', shape: /\bpypi-[A-Za-z0-9_-]{16}/ },
  { words: 'a token of Hugging Face', shape: /\bhf_[A-Za-z0-9]{20}/ },
  { words: 'a key of SendGrid', shape: /\bSG\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{16}/ },
  { words: 'a web token', shape: /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\./ },
  {
    words: 'a password in an address',
    shape: /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@*]{1,200}:[^\s/@*$]{1,200}@/i,
  },
  { words: 'an authorization header', shape: /\b(?:bearer|basic)\s+[A-Za-z0-9._~+/-]{16}/i },
  {
    words: 'a named secret',
    shape: new RegExp(String.raw`${NAMES}\s{0,3}[=:]\s{0,3}${VALUE}`, 'i'),
  },
  { words: 'a named secret', shape: new RegExp(String.raw`--?${NAMES}\s{1,3}(?!-)${VALUE}`, 'i') },
];

/** What the text is taken to hold, to stand after "holds "; undefined where it looks harmless. */
export function secretIn(text: string): string | undefined {
  return SHAPES.find(({ shape }) => shape.test(text))?.words;
}
