import { describe, expect, test } from 'vitest';
import { secretIn } from '../../../src/schema/secret-text.js';

/** Made here: nothing that would be found in a search for real ones. */
const LETTERS = 'abcdefghij0123456789ABCDEFGHIJ0123456789';

describe('text that looks like a credential', () => {
  test.each([
    [`git push https://me:${LETTERS}@example.com/x.git`, 'a password in an address'],
    [`curl -H 'Authorization: Bearer ${LETTERS}' *`, 'an authorization header'],
    [`gh auth login ghp_${LETTERS}`, 'a token of GitHub'],
    [`deploy github_pat_${LETTERS}`, 'a token of GitHub'],
    [`deploy glpat-${LETTERS}`, 'a token of GitLab'],
    [`aws --key AKIA${'Q'.repeat(16)}`, 'a key of AWS'],
    [`slack xoxb-${LETTERS}`, 'a token of Slack'],
    [`run sk-${LETTERS}`, 'a key of a model provider'],
    [`x eyJ${LETTERS}.eyJ${LETTERS}.${LETTERS}`, 'a web token'],
    ['mysql --password=hunter22 *', 'a named secret'],
    ['mysql --password hunter22 *', 'a named secret'],
    ['env PASSWORD=hunter22 make', 'a named secret'],
    ['env DB_PASSWORD=hunter22 make', 'a named secret'],
    ['curl -d api_key=hunter22 *', 'a named secret'],
    ['curl -d "token: hunter22" *', 'a named secret'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----', 'a private key'],
  ])('%s holds %s', (text, words) => {
    expect(secretIn(text)).toBe(words);
  });

  test.each([
    'git push *',
    'mysql --password=* *',
    'mysql --password=$PASSWORD *',
    'mysql --password *',
    'pass show *',
    'git log --author=token',
    'curl https://example.com/a:b@c',
    'git clone ssh://git@example.com/x',
    'grep -rn password src',
    'npm run sk-test',
    'export TOKEN=<token>',
  ])('%s holds none', (text) => {
    expect(secretIn(text)).toBeUndefined();
  });

  test('a long text takes no longer than its length', () => {
    const long = `${'password '.repeat(40_000)}${'a:'.repeat(40_000)}`;
    const started = performance.now();
    expect(secretIn(long)).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(500);
  });
});
