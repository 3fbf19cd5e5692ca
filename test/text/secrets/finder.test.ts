// Secrets in bytes: every kind in every encoding, wherever the pieces are cut.
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { secretVariables } from '../../../src/text/redact.ts';
import { type FoundSecret, SecretFinder } from '../../../src/text/secrets/finder.ts';
import { KnownValues } from '../../../src/text/secrets/known-values.ts';
import { ENCODINGS, planted } from './planted.ts';

const NONE = new KnownValues([]);

function find(pieces: readonly (string | Uint8Array)[], known = NONE): readonly FoundSecret[] {
  const finder = new SecretFinder(known);
  const found = pieces.flatMap((piece) => finder.push(Buffer.from(piece)));
  return [...found, ...finder.end()];
}

const kindsIn = (text: string): readonly string[] => find([text]).map(({ kind }) => kind);

const AROUND = (text: string): string => `$ show\nvalue="${text}"\ndone\n`;

describe('tokens', () => {
  it.each(ENCODINGS.map(([name, encode], at) => ({ name: `${name} ${at}`, encode })))(
    'of all kinds are found: $name',
    ({ encode }) => {
      const all = ['a', 'b', 'c'].flatMap(planted);
      const missed = all.filter(({ kind, text }) => !kindsIn(AROUND(encode(text))).includes(kind));
      expect(missed.map(({ kind }) => kind)).toEqual([]);
    },
  );

  it('are at least thirty kinds', () => {
    expect(new Set(planted('a').map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(30);
  });

  it('are the same secret in every encoding', () => {
    const differs = planted('d').flatMap(({ kind, text }) => {
      const found = ENCODINGS.map(
        ([, encode]) =>
          find([AROUND(encode(text))])
            .filter((one) => one.kind === kind)
            .map(({ secret }) => secret.replace(/[\s=]+$/, ''))[0],
      );
      // What a signature's own sign is encoded as stays so where the whole is not encoded.
      return kind === 'azure-sas' || new Set(found).size === 1 ? [] : [kind];
    });
    expect(differs).toEqual([]);
  });

  it('are named with their place and encoding', () => {
    const [key] = planted('e');
    const text = AROUND(encodeURIComponent(key?.text ?? ''));
    expect(find([text])).toEqual([
      {
        kind: 'aws-access-key',
        encoding: 'plain',
        from: text.indexOf(key?.text ?? ''),
        to: text.indexOf(key?.text ?? '') + 20,
        secret: key?.text,
      },
    ]);
  });
});

describe('what is no secret', () => {
  const KEY = `AK${'IA'}`;
  it.each([
    `${KEY}IOSFODNN7EXAMPLE`,
    `${KEY}XXXXXXXXXXXXXXXX`,
    'postgres://user:password@localhost/db',
    'postgres://postgres:postgres@localhost:5432/db',
    'http://localhost:3000/@scope/x http://host:8080@x',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of a shell
    'https://$USER:${TOKEN}@git.example.com/x <user>://<name>:<password>@host',
    'Authorization: Bearer YOUR_TOKEN_GOES_HERE_1',
    'Authorization: Bearer $TOKEN',
    'authorization: basic-auth-is-not-supported-here',
    `gh${'p_'}${'x'.repeat(36)}`,
    'sk-this-is-a-css-class-name-of-a-spinner-2024',
    '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
    '3f786850e387550fdab836ed7e6dc881de23001b',
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    'machine learning login page password reset',
    'postgres://app:[REDACTED:PGPASSWORD]@db/app',
    'https://[REDACTED:GITHUB_PAT]@git.example.com/x',
  ])('%j', (text) => {
    expect(ENCODINGS.flatMap(([, encode]) => find([AROUND(encode(text))]))).toEqual([]);
  });
});

const ENV = {
  MY_API_KEY: 'pa ss/7+Zq&"\u00e9',
  B_TOKEN: 'only-letters',
  A_PASSWORD: 'short',
  HOME: '/home/someone-known',
  GITHUB_WORKSPACE: '/runner/work/app',
};

describe('values of known variables', () => {
  const known = new KnownValues(secretVariables(ENV));

  it('are found in every encoding, with the name of the variable', () => {
    const found = ENCODINGS.map(([name, encode]) => {
      const all = find([AROUND(encode(ENV.MY_API_KEY))], known);
      return [name, all.map((one) => `${one.name} ${one.encoding}`)];
    });
    expect(found).toEqual(ENCODINGS.map(([name]) => [name, [`MY_API_KEY ${name}`]]));
  });

  it('count from eight characters on, and only by the names of secrets', () => {
    const text = Object.values(ENV).join('\n');
    expect(known.names(Buffer.from(text).toString('latin1'))).toEqual(['B_TOKEN', 'MY_API_KEY']);
  });

  it('are found by what programs really make of them', () => {
    const forms = [
      new URLSearchParams({ q: ENV.MY_API_KEY }).toString(),
      encodeURI(ENV.MY_API_KEY),
      `\\u0070${JSON.stringify(ENV.MY_API_KEY)}`,
      Buffer.from(`user:${ENV.MY_API_KEY}:tail`).toString('base64'),
    ];
    expect(forms.map((form) => find([form], known).map(({ name }) => name))).toEqual(
      forms.map(() => ['MY_API_KEY']),
    );
  });
});

const SECRETS = planted('pieces');
const noise = fc.string({ unit: 'grapheme', maxLength: 200 });
const filler = fc
  .tuple(noise, fc.integer({ min: 0, max: 4_000 }))
  .map(([text, count]) => text.repeat(count).slice(0, 150_000));
const part = fc.oneof(
  filler,
  fc.constantFrom(...SECRETS.map(({ text }) => `\n${text}\n`)),
  fc.constantFrom(`\n${ENV.MY_API_KEY}\n`),
);

function cut(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const places = cuts.map((one) => one % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...places].map((from, at) => bytes.subarray(from, places[at] ?? bytes.length));
}

it('finds the same wherever the pieces are cut', () => {
  const known = new KnownValues(secretVariables(ENV));
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      (parts, cuts) => {
        const bytes = Buffer.from(parts.join(''));
        expect(find(cut(bytes, cuts), known)).toEqual(find([bytes], known));
      },
    ),
    { numRuns: 30 },
  );
});

it('finds a secret wherever it lies at the border of two blocks', () => {
  const BLOCK = 262_144;
  const known = new KnownValues(secretVariables(ENV));
  const all = [
    ...SECRETS.map(({ text, kind }) => ({ text, kind })),
    { text: ENV.MY_API_KEY, kind: 'variable' },
  ];
  for (const { text, kind } of all) {
    const length = Buffer.byteLength(text);
    for (const back of [0, 1, 7, length >> 1, length - 1, length, length + 1]) {
      const bytes = Buffer.concat([
        Buffer.alloc(BLOCK - back - 1, '.'),
        Buffer.from(`\n${text}\n`),
        Buffer.alloc(80_000, '.'),
      ]);
      const found = find([bytes.subarray(0, BLOCK), bytes.subarray(BLOCK)], known);
      expect([back, ...found.map((one) => one.kind)]).toEqual([back, kind]);
    }
  }
});

it('any bytes can be looked at', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4_000 }), (bytes) => {
      expect(find([bytes])).toEqual([]);
    }),
  );
});

it('takes time in proportion to the text, whatever is in it', () => {
  const nasty = [
    'eyJ',
    '://a:',
    'authorization: bearer ',
    `-----BEGIN PRIVATE ${'KEY'}-----\n`,
    'aws_secret_key ',
    'A',
    '%41',
    '\\u0041',
    'machine x login ',
    'twilio ',
    '.',
    'sk-',
    ':AA',
  ];
  for (const one of nasty) {
    const pieceOf = (length: number): string => one.repeat(Math.ceil(length / one.length));
    const took = (length: number): number => {
      const started = process.cpuUsage();
      find([pieceOf(length)]);
      const { user, system } = process.cpuUsage(started);
      return (user + system) / 1000;
    };
    took(200_000);
    // Four times the text; quadratic time would be sixteen times.
    const [small, large] = [took(250_000), took(1_000_000)];
    expect([one, large < small * 10 + 500]).toEqual([one, true]);
  }
});

/** Every file of this project as the output of a command that shows it. */
function ordinaryOutputs(): readonly Buffer[] {
  const root = join(import.meta.dirname, '..', '..', '..');
  const names = ['src', 'docs', 'native', 'bench', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((one) =>
      join(folder, one),
    ),
  );
  return ['package.json', 'package-lock.json', 'CHANGELOG.md', ...names]
    .map((name) => join(root, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path));
}

it('gives no alarm for what people and agents look at all day', () => {
  const outputs = ordinaryOutputs();
  const digests = outputs.map((bytes) => createHash('sha256').update(bytes).digest());
  const ordinary = [
    ...outputs,
    ...outputs.map((bytes) => bytes.toString('base64')), // as images are inlined
    digests.map((one) => `${one.toString('hex')}  src/x.ts\n`).join(''),
    digests.map((one) => `"integrity": "sha512-${one.toString('base64')}"\n`).join(''),
    digests.map(() => randomUUID()).join('\n'),
    ...digests.map((one) => Buffer.concat([one, one]).toString('base64url')),
  ];
  expect(ordinary.length).toBeGreaterThan(2_000);
  const alarms = ordinary.flatMap((one) => find([one]));
  expect(alarms.map(({ kind, secret }) => [kind, secret])).toEqual([]);
});
