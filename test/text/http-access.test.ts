import { describe, expect, it } from 'vitest';
import { refusal } from '../../src/text/http-access.ts';

const TOKEN = 'the-token';
const GOOD = { host: '127.0.0.1:8931', authorization: `Bearer ${TOKEN}` };

const status = (headers: Readonly<Record<string, string | undefined>>): number | undefined =>
  refusal({ ...GOOD, ...headers }, TOKEN)?.status;

describe('the guard of the HTTP server', () => {
  it('lets in who is here and has the token', () => {
    for (const host of ['127.0.0.1', '127.0.0.1:1', 'localhost:8931', 'LocalHost', '[::1]:8931']) {
      expect(status({ host })).toBeUndefined();
    }
    for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:1']) {
      expect(status({ origin })).toBeUndefined();
    }
    expect(status({ authorization: `bearer   ${TOKEN}` })).toBeUndefined();
  });

  it('refuses other hosts and origins, token or not', () => {
    for (const host of [
      undefined,
      '',
      'evil.example:8931',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      'evil.example@127.0.0.1',
      '127.0.0.1/evil',
      '127.0.0.1:99999',
      '127.0.0.2',
      '0.0.0.0',
      'a b',
    ]) {
      expect([host, status({ host })]).toEqual([host, 403]);
      expect(status({ host, authorization: 'Bearer wrong' })).toBe(403);
    }
    for (const origin of [
      '',
      'null',
      'http://evil.example',
      'http://localhost.evil.example',
      'http://user@localhost',
      'http://localhost/path',
      'file://',
      'chrome-extension://localhost',
      'localhost',
    ]) {
      expect([origin, status({ origin })]).toEqual([origin, 403]);
    }
  });

  it('wants the whole token and nothing else', () => {
    for (const authorization of [
      undefined,
      '',
      TOKEN,
      'Bearer',
      'Bearer ',
      'Bearer the-toke',
      'Bearer the-token2',
      'Bearer the-token x',
      `Basic ${TOKEN}`,
    ]) {
      expect([authorization, status({ authorization })]).toEqual([authorization, 401]);
    }
  });
});
