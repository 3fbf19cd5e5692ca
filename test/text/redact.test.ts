// Secrets of the environment in text: found in every form somebody may print them in, and nothing
// else is touched.
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactor } from '../../src/text/redact.ts';

const SECRET = 'sk-live/7+Zq&p=x Y';

function redact(text: string): string {
  return redactor({ MY_API_KEY: SECRET })(text);
}

describe('a known secret', () => {
  it('is replaced by the name of its variable', () => {
    expect(redact(`curl -H "x: ${SECRET}" host`)).toBe('curl -H "x: [REDACTED:MY_API_KEY]" host');
  });

  it('is found URL-encoded, whatever the encoder leaves as it is', () => {
    const forms = [
      encodeURIComponent(SECRET),
      encodeURIComponent(SECRET).toLowerCase().replace('zq', 'Zq').replace(/y$/, 'Y'),
      new URLSearchParams({ q: SECRET }).toString().slice(2),
      encodeURI(SECRET),
    ];
    expect(forms.map((form) => redact(`?k=${form}&b=1`))).toEqual(
      forms.map(() => '?k=[REDACTED:MY_API_KEY]&b=1'),
    );
  });

  it('is found in base64, padded or not, also of the URL-safe kind', () => {
    const plain = Buffer.from(SECRET);
    expect(redact(`x ${plain.toString('base64')} y`)).toBe('x [REDACTED:MY_API_KEY] y');
    expect(redact(`x ${plain.toString('base64url')} y`)).toBe('x [REDACTED:MY_API_KEY] y');
  });

  it('is found inside of longer base64, as a basic authorization has it', () => {
    const header = Buffer.from(`user:${SECRET}:tail`).toString('base64');
    const clean = redact(header);
    expect(clean).toContain('[REDACTED:MY_API_KEY]');
    const left = clean.split('[REDACTED:MY_API_KEY]').map((part) => Buffer.from(part, 'base64'));
    expect(Buffer.concat(left).toString('latin1')).not.toContain(SECRET.slice(2, 8));
  });

  it('is found in what base64(1) really prints', () => {
    const out = execFileSync('base64', { input: `${SECRET}\n`, encoding: 'utf8' });
    expect(redact(out)).toMatch(/^\[REDACTED:MY_API_KEY\]\S{0,4}\n$/);
  });

  it('is known by its name only', () => {
    const env = {
      A_KEY: 'value-of-a-key',
      A_SECRET: 'value-of-a-secret',
      A_TOKEN: 'value-of-a-token',
      A_PASSWORD: 'value-of-a-password',
      AWS_PROFILE: 'value-of-aws',
      GITHUB_ACTOR: 'value-of-github',
      OPENAI_ORG: 'value-of-openai',
      ANTHROPIC_X: 'value-of-anthropic',
      GEMINI_X: 'value-of-gemini',
      HOME: 'value-of-home',
      KEYBOARD: 'value-of-keyboard',
      SHORT_TOKEN: 'short',
      EMPTY_TOKEN: '',
      UNSET_TOKEN: undefined,
    };
    const text = Object.values(env).join(' ');
    expect(redactor(env)(text)).toBe(
      [
        ...['A_KEY', 'A_SECRET', 'A_TOKEN', 'A_PASSWORD', 'AWS_PROFILE', 'GITHUB_ACTOR'],
        ...['OPENAI_ORG', 'ANTHROPIC_X', 'GEMINI_X'],
      ]
        .map((name) => `[REDACTED:${name}]`)
        .concat('value-of-home', 'value-of-keyboard', 'short', '', '')
        .join(' '),
    );
  });

  it('is the longer one where two start alike', () => {
    const both = redactor({ A_TOKEN: 'abcdefgh', B_TOKEN: 'abcdefgh-ijkl' });
    expect(both('abcdefgh-ijkl abcdefgh')).toBe('[REDACTED:B_TOKEN] [REDACTED:A_TOKEN]');
  });

  it('has no form longer than the redactor says', () => {
    const { lengthMax } = redactor({ MY_API_KEY: SECRET });
    expect(encodeURIComponent(SECRET).length).toBeLessThanOrEqual(lengthMax);
    expect(Buffer.from(`xx${SECRET}xx`).toString('base64').length).toBeLessThanOrEqual(lengthMax);
    expect(redactor({ HOME: SECRET }).lengthMax).toBe(0);
  });
});

const value = fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme' }).filter((text) => {
  return text.trim().length >= 8 && text === text.trim() && !/\p{Cs}/u.test(text);
});

it('no form of any secret is left in any text', () => {
  const formOf = fc.constantFrom<(text: string) => string>(
    (text) => text,
    encodeURIComponent,
    (text) => Buffer.from(text).toString('base64'),
    (text) => Buffer.from(text).toString('base64url'),
  );
  fc.assert(
    fc.property(value, formOf, fc.string(), fc.string(), (secret, form, before, after) => {
      const shown = form(secret);
      const clean = redactor({ X_TOKEN: secret })(`${before}\n${shown}\n${after}`);
      expect(clean).toContain('[REDACTED:X_TOKEN]');
      expect(clean.split('[REDACTED:X_TOKEN]').join('')).not.toContain(shown);
    }),
  );
});

it('a text without a secret stays as it is', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(redactor({ X_TOKEN: '\u{10FFFF}never-in-any-text' })(text)).toBe(text);
    }),
  );
});
