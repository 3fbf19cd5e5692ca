// Secrets of every kind, made when a test runs: no text that looks like one stands in this
// repository, where a scanner would find it, and so would the tests themselves.
import { createHash } from 'node:crypto';

const DIGITS = '0123456789';
const SMALL = 'abcdefghijklmnopqrstuvwxyz';
const CAPITAL = SMALL.toUpperCase();
const ALNUM = CAPITAL + SMALL + DIGITS;
const WORD = `${ALNUM}_-`;
const HEX = `${DIGITS}abcdef`;
const B64 = `${ALNUM}+/`;
const BASE32 = `${CAPITAL}234567`;

/** The same signs for the same seed. */
class Random {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  of(signs: string, length: number): string {
    let text = '';
    while (text.length < length) {
      this.#count += 1;
      const bytes = createHash('sha256').update(`${this.#seed} ${this.#count}`).digest();
      for (const byte of bytes) text += signs[byte % signs.length];
    }
    return text.slice(0, length);
  }
}

export type Planted = {
  readonly kind: string;
  /** What is printed, with the secret in it. */
  readonly text: string;
  /** The part that must not be seen anywhere. */
  readonly secret: string;
};

type Maker = (random: Random) => { readonly before?: string; readonly secret: string };

const of =
  (prefix: string, signs: string, length: number): Maker =>
  (random) => ({ secret: prefix + random.of(signs, length) });

/** `signs` behind words that say what it is. */
const named =
  (before: string, signs: string, length: number, end = ''): Maker =>
  (random) => ({ before, secret: random.of(signs, length) + end });

const json = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function pem(label: string, random: Random): string {
  const body = random.of(B64, 1_600).replace(/.{64}/g, '$&\n');
  return `-----BEGIN ${label}-----\n${body}-----END ${label}-----`;
}

const MAKERS: readonly (readonly [kind: string, maker: Maker])[] = [
  ['aws-access-key', of('AK' + 'IA', BASE32, 16)],
  ['aws-access-key', of('AS' + 'IA', BASE32, 16)],
  ['aws-secret-key', named('aws_secret_access_key = ', B64, 40)],
  ['github-token', of('gh' + 'p_', ALNUM, 36)],
  ['github-token', of('gh' + 'o_', ALNUM, 36)],
  ['github-token', (r) => ({ secret: `github${'_pat_'}${r.of(ALNUM, 22)}_${r.of(ALNUM, 59)}` })],
  ['gitlab-token', of('gl' + 'pat-', ALNUM, 20)],
  ['slack-token', (r) => ({ secret: `xo${'xb-'}${r.of(DIGITS, 12)}-${r.of(ALNUM, 24)}` })],
  [
    'slack-webhook',
    (r) => ({
      secret: [
        `hooks.slack${'.com'}/services/T${r.of(BASE32, 8)}`,
        `B${r.of(BASE32, 8)}`,
        r.of(ALNUM, 24),
      ].join('/'),
    }),
  ],
  ['stripe-key', of('sk' + '_live_', ALNUM, 24)],
  ['stripe-key', of('rk' + '_live_', ALNUM, 24)],
  ['google-key', of('AI' + 'za', WORD.slice(0, 62), 35)],
  ['google-oauth', of('GOC' + 'SPX-', ALNUM, 28)],
  ['openai-key', (r) => ({ secret: `sk${'-'}${r.of(ALNUM, 20)}T3Blbk${'FJ'}${r.of(ALNUM, 20)}` })],
  ['openai-key', of('sk' + '-proj-', ALNUM, 80)],
  ['anthropic-key', of('sk' + '-ant-api03-', WORD, 93)],
  ['npm-token', of('np' + 'm_', ALNUM, 36)],
  ['pypi-token', of('py' + 'pi-AgEIcHlwaS5vcmc', WORD, 90)],
  ['twilio-key', of('S' + 'K', HEX, 32)],
  ['twilio-key', named('TWILIO_AUTH_TOKEN=', HEX, 32)],
  ['sendgrid-key', (r) => ({ secret: `S${'G.'}${r.of(ALNUM, 22)}.${r.of(ALNUM, 43)}` })],
  ['mailgun-key', of('ke' + 'y-', HEX, 32)],
  ['digitalocean-token', of('do' + 'p_v1_', HEX, 64)],
  ['heroku-key', of('HR' + 'KU-', ALNUM, 58)],
  [
    'heroku-key',
    (r) => ({
      before: 'HEROKU_API_KEY=',
      secret: [8, 4, 4, 4, 12].map((length) => r.of(HEX, length)).join('-'),
    }),
  ],
  ['azure-key', named('AccountName=store;AccountKey=', B64, 86, '==')],
  ['azure-sas', named('https://store.example.com/c?sv=2022&sig=', ALNUM, 43, '%3D')],
  [
    'discord-token',
    (r) => ({
      secret: [
        Buffer.from(r.of('123456789', 18)).toString('base64url'),
        r.of(ALNUM, 6),
        r.of(ALNUM, 38),
      ].join('.'),
    }),
  ],
  ['telegram-token', (r) => ({ secret: `${r.of('123456789', 10)}:A${'A'}${r.of(ALNUM, 33)}` })],
  ['shopify-token', of('shp' + 'at_', HEX, 32)],
  ['square-token', of('sq0' + 'atp-', ALNUM, 22)],
  ['databricks-token', of('da' + 'pi', HEX, 32)],
  ['vault-token', of('hv' + 's.', ALNUM, 90)],
  ['doppler-token', of('dp' + '.pt.', ALNUM, 43)],
  ['linear-key', of('lin' + '_api_', ALNUM, 40)],
  ['notion-token', of('nt' + 'n_', ALNUM, 46)],
  ['figma-token', of('fi' + 'gd_', ALNUM, 40)],
  ['age-key', of('AGE-SECRET' + '-KEY-1', BASE32, 58)],
  ['private-key', (r) => ({ secret: pem(`RSA PRIVATE${' KEY'}`, r) })],
  ['private-key', (r) => ({ secret: pem(`OPENSSH PRIVATE${' KEY'}`, r) })],
  ['private-key', (r) => ({ secret: pem(`PGP PRIVATE${' KEY'} BLOCK`, r) })],
  [
    'jwt',
    (r) => ({
      secret: [
        json({ alg: 'HS256', typ: 'JWT' }),
        json({ sub: r.of(ALNUM, 12), iat: 1_700_000_000 }),
        r.of(WORD, 43),
      ].join('.'),
    }),
  ],
  ['url-password', (r) => ({ before: 'postgres://app:', secret: r.of(ALNUM, 18) })],
  [
    'authorization',
    (r) => ({
      before: 'Authorization: Basic ',
      secret: Buffer.from(`deploy:${r.of(ALNUM, 16)}`).toString('base64'),
    }),
  ],
  ['authorization', named('Authorization: Bearer ', ALNUM, 40)],
  ['header-key', named('X-Api-Key: ', ALNUM, 32)],
  ['netrc-password', named('machine git.host login deploy password ', ALNUM, 16)],
];

/** One secret of each shape; others for another seed. */
export function planted(seed: string): readonly Planted[] {
  return MAKERS.map(([kind, maker], at) => {
    const { before = '', secret } = maker(new Random(`${seed} ${at}`));
    const behind = kind === 'url-password' ? '@db.host:5432/app' : '';
    return { kind, text: `${before}${secret}${behind}`, secret };
  });
}

type Encode = (text: string) => string;

/** As programs print them: base64 at each of its three places. */
export const ENCODINGS: readonly (readonly [name: string, encode: Encode])[] = [
  ['plain', (text) => text],
  ['base64', (text) => Buffer.from(text).toString('base64')],
  ['base64', (text) => Buffer.from(` ${text}`).toString('base64')],
  ['base64', (text) => Buffer.from(`x ${text} `).toString('base64url')],
  ['base64', (text) => Buffer.from(`# of\n${text}\n`).toString('base64').replace(/.{76}/g, '$&\n')],
  ['url', encodeURIComponent],
  ['hex', (text) => Buffer.from(text).toString('hex')],
  ['hex', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  ['json', (text) => JSON.stringify({ text }).replaceAll('/', '\\/')],
  ['json', (text) => JSON.stringify(text).replace(/[=&<>/+]/g, unicode)],
];

function unicode(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
