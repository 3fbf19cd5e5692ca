// The shapes of well-known secrets, as data: tokens of the big providers, private keys, JSON web
// tokens, passwords in addresses, headers and `.netrc`. A shape is precise rather than generous: an
// alarm that is false more than once in a thousand commands is an alarm that people switch off.
//
// Patterns look at text that has one character for each byte. Each is tried only where its hint was
// found, and every repetition has a limit, so that no text takes longer than it takes to read it.

import { literalRegex } from '../regex.ts';
import { isPlaceholder, isRandomText } from './placeholders.ts';

export type TokenKind = {
  readonly kind: string;
  /** How it begins, in all ways: its first three signs, or four where letters are of any size. */
  readonly hints: readonly string[];
  /** Matched where a hint was found. Its group `secret` is the secret, or `back` and all of it. */
  readonly pattern: string;
  /** In letters of any size. */
  readonly anyCase?: boolean;
  /** What else must be true of the secret. `match` has the groups of the pattern. */
  readonly check?: (secret: string, match: RegExpExecArray) => boolean;
};

const B64 = '[A-Za-z0-9+/]';
const WORD = '[A-Za-z0-9_-]';
const ALNUM = '[A-Za-z0-9]';
const URL_SAFE = '[A-Za-z0-9._~+/=-]';
const HEX = '[0-9a-f]';
const HEX_SIGNS = '0123456789abcdef';
/** A token ends here: its length is part of its shape. */
const END = `(?!${WORD})`;

/** A token that begins with one of `starts`, which must have three signs. */
function token(kind: string, starts: readonly string[], body: string): TokenKind {
  const start = starts.map(literalRegex).join('|');
  return { kind, hints: starts, pattern: `(?<!${ALNUM})(?:${start})${body}` };
}

/** In front of the `@` of an address everything else is encoded. */
const OF_NAME = `(?:(?![/?#:@'"\`<>\\\\[\\]])[!-~\x80-\xff])`;

/** `NAME = "VALUE"`, `"NAME": "VALUE"`, `NAME VALUE`. */
const SIGN = `["']?[ \\t]{0,4}(?:=>|[=:]|[ \\t])[ \\t]{0,4}["']?`;

const TOKENS: readonly TokenKind[] = [
  token('aws-access-key', ['AKIA', 'ASIA'], `[A-Z2-7]{16}(?!${ALNUM})`),
  token('github-token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], `${ALNUM}{36,255}`),
  token('github-token', ['github_pat_'], '\\w{60,255}'),
  token(
    'gitlab-token',
    ['glpat-', 'glptt-', 'gldt-', 'glrt-', 'glcbt-', 'glft-', 'glimt-', 'glagent-', 'glsoat-'],
    `${WORD}{20,255}`,
  ),
  token(
    'slack-token',
    [...'abeoprs'].map((one) => `xox${one}-`),
    '[A-Za-z0-9-]{20,255}',
  ),
  token('slack-token', ['xapp-'], '\\d-[A-Za-z0-9-]{40,255}'),
  token('slack-webhook', ['hooks.slack.com/services/'], `T\\w{6,14}/B\\w{6,14}/${ALNUM}{20,40}`),
  token('stripe-key', ['sk_live_', 'rk_live_'], `${ALNUM}{16,255}`),
  token('google-key', ['AIza'], `${WORD}{35}${END}`),
  token('google-oauth', ['GOCSPX-'], `${WORD}{28}${END}`),
  token('google-oauth', ['ya29.'], `${WORD}{40,1024}`),
  token('anthropic-key', ['sk-ant-'], `${WORD}{40,255}`),
  { ...token('openai-key', ['sk-'], `(?!ant-)${WORD}{32,255}`), check: isRandomText },
  token('npm-token', ['npm_'], `${ALNUM}{36}${END}`),
  token('pypi-token', ['pypi-'], `AgE${WORD}{50,1024}`),
  { ...token('twilio-key', ['SK'], `${HEX}{32}${END}`), hints: after('SK', HEX_SIGNS) },
  token('sendgrid-key', ['SG.'], `${WORD}{22}\\.${WORD}{43}${END}`),
  token('mailgun-key', ['key-'], `${HEX}{32}${END}`),
  token('digitalocean-token', ['dop_v1_', 'doo_v1_', 'dor_v1_'], `${HEX}{64}${END}`),
  token('heroku-key', ['HRKU-'], `${WORD}{36,64}`),
  token('azure-key', ['AccountKey='], `(?<secret>${B64}{86}==)`),
  token('azure-key', ['SharedAccessKey='], `(?<secret>${B64}{43}=)`),
  token('azure-sas', ['sig='], '(?<secret>[A-Za-z0-9%+/]{43,70}(?:=|%3[Dd])?)(?![A-Za-z0-9%+/=])'),
  {
    // `<id>.<time>.<signature>`: the id is a number, in base64.
    kind: 'discord-token',
    hints: after(after(after('', 'MNO'), 'DTjz'), 'AEIMQUYcgk'),
    pattern: `(?<![\\w.-])(?<id>[MNO]${WORD}{23,27})\\.${WORD}{6}\\.${WORD}{27,40}${END}`,
    check: (_, { groups: { id = '' } = {} }) =>
      /^\d{17,20}$/.test(Buffer.from(id, 'base64').toString('latin1')),
  },
  {
    kind: 'telegram-token',
    hints: [':AA'],
    pattern: `(?<=(?<!\\d)(?<back>\\d{8,10})):AA${WORD}{33}${END}`,
  },
  token('shopify-token', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], `[0-9a-fA-F]{32}${END}`),
  token('square-token', ['sq0atp-', 'sq0csp-'], `${WORD}{22,43}${END}`),
  token('square-token', ['EAAA'], `(?<![+/=_-]EAAA)${WORD}{60}(?![+/=_-]|${ALNUM})`),
  token('databricks-token', ['dapi'], `${HEX}{32}(?:-\\d)?${END}`),
  token('vault-token', ['hvs.', 'hvb.', 'hvr.'], `${WORD}{24,255}`),
  token(
    'doppler-token',
    ['pt', 'st', 'ct', 'sa', 'scim', 'audit'].map((one) => `dp.${one}.`),
    `(?:${WORD}{1,32}\\.)?${ALNUM}{40,44}`,
  ),
  token('linear-key', ['lin_api_', 'lin_oauth_'], `${ALNUM}{40,64}`),
  token('notion-token', ['ntn_'], `${ALNUM}{40,50}`),
  { ...token('notion-token', ['secret_'], `${ALNUM}{43}${END}`), check: isRandomText },
  token('figma-token', ['figd_', 'figo_', 'figu_', 'figr_'], `${WORD}{36,64}`),
  token('age-key', ['AGE-SECRET-KEY-1'], '[0-9A-Z]{58}'),
  token('huggingface-token', ['hf_'], `[A-Za-z]{34}${END}`),
  token('docker-token', ['dckr_pat_', 'dckr_oat_'], `${WORD}{27,40}`),
  token('tailscale-key', ['tskey-'], `[a-z]{3,8}-${WORD}{20,80}`),
  token('grafana-token', ['glc_', 'glsa_'], '[A-Za-z0-9+/=_]{32,400}'),
  token('rubygems-key', ['rubygems_'], `${HEX}{48}${END}`),
  token('atlassian-token', ['ATATT3'], '[A-Za-z0-9_=-]{60,255}'),
  {
    kind: 'jwt',
    hints: ['eyJ'],
    pattern: `(?<!${WORD})eyJ${WORD}{8,4096}\\.eyJ${WORD}{8,8192}\\.${WORD}{16,1024}`,
  },
  {
    kind: 'private-key',
    hints: ['-----BEGIN '],
    pattern:
      '(?<!-)-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----' +
      '(?:\\s{1,4}[A-Za-z-]{1,30}: [^\\r\\n]{0,200}){0,6}(?<secret>[A-Za-z0-9+/=\\s]{40,12000})',
    check: (secret) => /^\s{1,8}[A-Za-z0-9+/=]{40}/.test(secret),
  },
  {
    kind: 'url-password',
    hints: ['://'],
    // A name may be empty: `redis://:password@host`.
    pattern: `://(?<user>${OF_NAME}{0,100}):(?<secret>${OF_NAME}{4,200})(?=@[A-Za-z0-9[])`,
    check: (secret, { groups: { user } = {} }) => secret !== user && !/^\d{1,5}$/.test(secret),
  },
];

function after(start: string | readonly string[], signs: string): readonly string[] {
  return [start].flat().flatMap((one) => [...signs].map((sign) => one + sign));
}

/** Checked by their own patterns: in a long text there is some filler by chance. */
export const UNCHECKED: ReadonlySet<string> = new Set(['private-key', 'jwt']);

/** Known by what stands in front of them. */
const NAMED: readonly TokenKind[] = [
  {
    kind: 'aws-secret-key',
    hints: ['secret', 'aws_', 'aws-', 'aws.', 'aws ', 'awss'],
    pattern:
      `(?:aws[_. -]?)?secret[_. -]?(?:access[_. -]?)?key${SIGN}` +
      `(?<secret>${B64}{40})(?![A-Za-z0-9+/=])`,
    check: isRandomText,
  },
  {
    kind: 'authorization',
    hints: ['authorization'],
    pattern: `authorization${SIGN}(?:bearer|token)[ \\t]{1,4}(?<secret>${URL_SAFE}{16,4096})`,
    check: isRandomText,
  },
  {
    kind: 'authorization',
    hints: ['authorization'],
    pattern: `authorization${SIGN}basic[ \\t]{1,4}(?<secret>[A-Za-z0-9+/]{8,1024}={0,2})`,
    check: isNameAndPassword,
  },
  {
    kind: 'header-key',
    hints: ['x-api-key', 'private-token', 'x-auth-token', 'x-vault-token'],
    pattern:
      `(?:x-api-key|private-token|x-(?:auth|vault)-token)${SIGN}` +
      `(?<secret>${URL_SAFE}{16,512})`,
    check: isRandomText,
  },
  {
    kind: 'netrc-password',
    hints: ['machine'],
    pattern:
      '(?<!\\w)machine\\s{1,8}(?:localhost|[\\w-]{1,63}\\.[\\w.:-]{1,255})' +
      '\\s{1,8}login\\s{1,8}[!-~]{1,255}' +
      '\\s{1,8}password\\s{1,8}(?<secret>[!#-[\\]-~]{4,255})',
  },
  {
    kind: 'twilio-key',
    hints: ['twilio'],
    pattern: `twilio[\\w. -]{0,30}(?:token|secret|key)${SIGN}(?<secret>${HEX}{32})${END}`,
  },
  {
    kind: 'heroku-key',
    hints: ['heroku'],
    pattern:
      `heroku[\\w. -]{0,30}(?:token|key)${SIGN}` +
      `(?<secret>${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12})${END}`,
  },
  {
    kind: 'mailgun-key',
    hints: ['mailgun'],
    pattern:
      `mailgun[\\w. -]{0,30}(?:token|key)${SIGN}` +
      `(?<secret>${HEX}{32}-${HEX}{8}-${HEX}{8})${END}`,
  },
].map((kind) => ({ ...kind, anyCase: true }));

function isNameAndPassword(secret: string): boolean {
  const text = Buffer.from(secret, 'base64').toString('latin1');
  const [, password = ''] = /^[\x20-\x7e]{0,200}?:([\x20-\x7e]{3,})$/.exec(text) ?? [];
  return password !== '' && !isPlaceholder(password);
}

export const TOKEN_KINDS: readonly TokenKind[] = [...TOKENS, ...NAMED];
