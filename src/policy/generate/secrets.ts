// Whether a command holds what looks like a secret. Such a command never gets into a policy, so
// that when in doubt it counts as one: leaving a harmless command out costs a rule, no more.
//
// Commands may have millions of characters: every pattern here begins with something that
// is rare or anchored, and what it looks through has a limit, so that none takes longer than it
// takes to read the text a few times.

/** Prefixes of issuers, and shapes that nothing else has. */
const KNOWN = [
  '\\b(?:ghp|gho|ghu|ghs|ghr)_\\w{8}|\\bgithub_pat_\\w{8}|\\bglpat-[\\w-]{8}',
  '\\bsk-[\\w-]{8}|\\b(?:sk|pk|rk)_(?:live|test)_\\w{6}|\\bwhsec_\\w{6}',
  '\\bAIza[\\w-]{10}|\\bya29\\.[\\w-]{6}|\\bAGE-SECRET-KEY-|\\btskey-\\w',
  '\\b(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{12}|\\bxox[abeoprs]-[\\w-]{6}|\\bxapp-[\\w-]{6}',
  '\\bnpm_[A-Za-z0-9]{16}|\\bpypi-[\\w-]{16}|\\bhf_[A-Za-z0-9]{12}|\\bdop_v1_\\w{8}',
  '\\bhv[sb]\\.[\\w-]{8}|\\bSG\\.[\\w-]{8}|\\bdckr_pat_[\\w-]{8}|\\bATATT[\\w-]{8}',
  '\\b(?:shp(?:at|ca|pa|ss)|gsk|lin_api|figd|glsa|rubygems|nvapi|xai)[_-][\\w-]{12}',
  '\\beyJ[\\w-]{6,400}?\\.[\\w-]{2}|\\beyJ[\\w-]{400}',
  '-----BEGIN [A-Z ]{0,40}PRIVATE KEY|\\[REDACTED:',
  'hooks\\.slack\\.com/services/|discord(?:app)?\\.com/api/webhooks/|\\b\\d{8,10}:AA[\\w-]{20}',
];

/** Names that say so, whatever stands in front of them: `DB_PASSWORD`, `rootPassword`. */
const SURE = 'password|passwd|passphrase|secret|token|(?:api|access|private|secret|auth)[_-]?key';
/** Words of other words, too: these only count as words of their own. */
const SHORT = 'pass|pwd|pw|credentials?|auth|bearer|cookie|session[_-]?id|signature';
/** Neither a reference to a variable, nor a comparison, nor a hole. */
const VALUE = '["\']?[^\\s"\'$<=]';
const OWN = '(?:^|[^a-z])';

/** A name that says so, and a value behind it: `DB_PASSWORD=x`, `--token x`, `"api_key": "x"`. */
const NAMED = [
  `(?:${SURE}|pass)["']?\\s{0,9}=\\s{0,9}${VALUE}`,
  `${OWN}(?:${SHORT})["']?\\s{0,9}=\\s{0,9}${VALUE}`,
  `(?:${SURE}|["'](?:[a-z0-9]{1,20}[_-]){0,6}(?:${SHORT}))["']\\s{0,9}:\\s{0,9}${VALUE}`,
  // In prose, `token: abc` is only a secret when it looks like one.
  `(?:${SURE}|${OWN}(?:pass|pwd))\\s{0,9}:\\s{0,9}["']?(?=[^\\s"']{0,99}\\d)[^\\s"'$<]{6}`,
  // A file of settings has it on a line of its own.
  `\\n\\s{0,40}["']?[\\w.-]{0,40}(?:${SURE})\\s{0,9}:\\s{1,9}${VALUE}`,
  `(?:^|\\s)--?(?:[a-z0-9]{1,20}[_-]){0,6}(?:${SURE}|pass|pwd|pw|bearer|credentials?)` +
    '(?:=|\\s{1,9})["\']?[^\\s"\'$-]',
  // `npm config set ..._authToken x`, `aws configure set aws_secret_access_key x`
  `\\bconfig(?:ure)?\\s[^|;&\\n]{0,80}(?:${SURE}|auth|credential|pass)[\\w.-]{0,40}\\s{1,9}` +
    '["\']?[^\\s"\'$|;&>-]',
  `--arg\\s{1,9}\\w{0,30}(?:${SURE}|pass|pwd)\\s{1,9}["']?[^\\s"'$]`,
  '[?&][\\w-]{0,40}(?:key|sig|signature|token|auth|secret|password|pwd|credential)=[^\\s&"\'$]',
  '(?:with|login|encrypted)\\s{1,9}password\\s{1,9}["\']|identified\\s{1,9}by\\s{1,9}["\']',
];

const ASSIGNED =
  '(?:^|[\\s;&|("\'])\\w{0,60}(?:TOKEN|SECRET|PASS|_KEY|_PAT|_PWD|_PW|_DSN|_AUTH|CREDENTIAL)' +
  '\\w{0,60}=["\']?[^\\s"\'$]';

const SENT = [
  '\\b(?:(?:proxy-)?authorization|x-api-key|x-auth-token|private-token|cookie)\\s{0,9}:',
  '(?:-H|--?[a-z-]{0,20}header)[=\\s]{0,9}["\']?[\\w-]{0,60}' +
    '(?:auth|token|key|secret|cookie|passw|credential|session|signature)[\\w-]{0,40}\\s{0,9}:',
  '\\b(?:bearer|basic)\\s{1,9}[\\w+/.~=-]{8}',
  '://[^\\s/@"\'`]{0,200}:[^\\s/@"\'`]{1,400}@|\\bhttps?://[^\\s/@:"\'`]{12,400}@',
  // `curl -u name:secret`, but not `docker run -u 1000:1000`
  '(?:^|\\s)(?:-[a-z]{0,8}u|--user|--proxy-user)(?:=|\\s{0,9})["\']?' +
    '(?!\\d{1,9}:\\d{1,9}(?:\\s|$))[^\\s"\':$]{1,99}:[^\\s"\'$]',
];

/** Programs, each with what makes it take a password: `mysql -pSecret`, `docker login -p x`. */
const OPTIONED: readonly (readonly [program: string, option: string])[] = [
  ['mysql|mysqldump|mysqladmin|mariadb', '-p["\']?[^\\s"\'$]'],
  ['login|twine|7z[ar]?|rar|unrar|mongo\\w{0,9}|useradd|usermod', '-p'],
  ['redis-cli|valkey-cli', '(?:-a|auth\\s|AUTH\\s|requirepass)'],
  ['zip|unzip', '-P'],
  ['openssl', '-(?:k|pass)'],
  ['ldap\\w{1,9}', '-w'],
  ['htpasswd', '-\\w{0,5}b'],
  ['curl|wget', '(?:-b|--cookie)[\\s=]{0,9}["\']?[^\\s"\'$]{1,99}='],
  ['http|https|xh', '(?:-a|--auth)[\\s=]'],
  ['smbclient', '\\S{0,99}%'],
  ['lftp', '-u'],
  ['ssh-keygen', '-N\\s{0,9}["\']?[^\\s"\'$]'],
  ['keytool|jarsigner', '-(?:store|key)pass'],
  ['nuget\\s{1,9}push', '-k'],
  ['doctl', '-t'],
  ['gem\\s{1,9}push', '--key'],
];

/** Commands whose purpose is to hand over a secret. */
const HANDED = [
  '\\bsshpass\\s{1,9}-p|\\b(?:kinit|sqlcmd|bcp)\\s|\\bauthtoken\\s|\\bchpasswd\\b|\\bconfig:set\\b',
  '\\b(?:cargo|vault)\\s{1,9}login\\s{1,9}[^\\s-]|\\bsnyk\\s{1,9}auth\\s{1,9}\\S',
  '\\balias\\s{1,9}set\\s|\\bcreate\\s{1,9}secret\\b|\\bkv\\s{1,9}put\\b',
  '\\bsecrets?\\s{1,9}(?:set|put|create|add|versions)\\b',
  '\\b(?:echo|printf)\\s[^|\\n]{1,400}\\|[^|\\n]{0,200}' +
    '(?:--password-stdin|--with-token|--passphrase-fd|\\bpasswd\\b|\\bsudo\\s[^|\\n]{0,40}-S\\b)',
];

/** Capital letters matter in some of them: `unzip -P` takes a password, `unzip -p` shows a file. */
const AS_WRITTEN = [[...KNOWN, ASSIGNED].join('|'), ...OPTIONED.map(optioned)].map(
  (pattern) => new RegExp(pattern),
);
const PATTERNS = [...NAMED, ...SENT, ...HANDED].map((pattern) => new RegExp(pattern, 'i'));

function optioned([program, option]: readonly [string, string]): string {
  return `(?:^|[\\s;&|(/])(?:${program})\\s(?:[^|;&\\n]{0,400}\\s)??${option}`;
}

export function looksSecret(command: string): boolean {
  return (
    AS_WRITTEN.some((pattern) => pattern.test(command)) ||
    PATTERNS.some((pattern) => pattern.test(command)) ||
    hasRandomWord(command.replace(LOCAL_PATH, withoutIds))
  );
}

/** A file of this machine: no host gives access to the one who knows its path. */
const LOCAL_PATH = /(?:^|[\s"'=(])~?\/(?!\/)[^\s"'`;|&<>()]*/g;
/** A name that programs give to a file or directory; a key has no such place. */
const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}';
const NAMED_BY_ID = new RegExp(`(?<=[/_-])(?:${ID})(?=[/.]|$)`, 'gi');

function withoutIds(path: string): string {
  return path.replace(NAMED_BY_ID, '');
}

// Classes without repetition: in a word of megabytes a repeated one overflows the matcher's stack.
const OF_WORD = /[A-Za-z0-9+/_=-]/g;
const BEHIND_WORD = /[^A-Za-z0-9+/_=-]/g;
/** Without what makes a path or a name of words: those are judged one by one. */
const OF_PIECE = /[^/_=-]/g;
const BEHIND_PIECE = /[/_=-]/g;
const RANDOM_LENGTH_MIN = 20;
/** Bits in a character; words of a language and paths stay below. */
const ENTROPY_MIN = 3.6;
/** Where the id of a commit or a digest is nothing special. */
const NAMES_DIGESTS = /\b(?:git|gh|glab|hub|docker|podman|commit|rev|sha\d+(?:sum)?|md5(?:sum)?)\b/;

/** A long run of letters and digits that a person would not make up: most likely a key. */
function hasRandomWord(command: string): boolean {
  const digests = NAMES_DIGESTS.test(command);
  for (const word of longRuns(command, OF_WORD, BEHIND_WORD)) {
    for (const piece of longRuns(word, OF_PIECE, BEHIND_PIECE)) {
      if (isRandom(piece, digests)) return true;
    }
    if (isMixed(word)) return true;
  }
  return false;
}

/** The texts from a match of `of` to the next one of `behind` that are long enough. */
function* longRuns(text: string, of: RegExp, behind: RegExp): Generator<string> {
  let end = 0;
  while (end < text.length) {
    const start = indexOf(of, text, end);
    end = indexOf(behind, text, start);
    if (end - start >= RANDOM_LENGTH_MIN) yield text.slice(start, end);
  }
}

function indexOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

/** The same all in one: a key may have any of these signs, but words do not change so often. */
function isMixed(word: string): boolean {
  const joined = word.replace(/[/_=+-]/g, '');
  if (joined === word || joined.length < RANDOM_LENGTH_MIN) return false;
  const { digits, changes } = countsOf(joined);
  if (digits < 1) return false;
  if (/^[0-9a-f]{32}$/i.test(joined)) return true;
  return changes >= joined.length / 3 && entropy(joined) >= ENTROPY_MIN;
}

function isRandom(word: string, digests: boolean): boolean {
  const { kinds, digits, changes } = countsOf(word);
  // The id of a commit, or a digest, is no secret; a number is none either.
  if (digits === word.length) return false;
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(word)) return !digests;
  if (NAME_WITH_HUMPS.test(word) && word.length / humpsOf(word) >= HUMP_LENGTH_MIN) return false;
  // Names of functions have humps, but neither many digits nor a change at every letter.
  if (kinds < 2 || (digits < 3 && changes < word.length / 3)) return false;
  return entropy(word) >= ENTROPY_MIN || /^[0-9a-f]{32}$/i.test(word);
}

/** `ListAllAgentChatSessions`: each word of it has a small letter behind its capital. */
const NAME_WITH_HUMPS = /^[a-z]*(?:[A-Z][a-z]+){2,12}$/;
/** Of random letters every second one is a capital. */
const HUMP_LENGTH_MIN = 4;

function humpsOf(word: string): number {
  return word.match(/[A-Z]/g)?.length ?? 1;
}

type Counts = {
  /** How many of small letters, capital letters and digits there are. */
  readonly kinds: number;
  readonly digits: number;
  /** How often a letter or digit stands in front of one of another kind. */
  readonly changes: number;
};

function countsOf(word: string): Counts {
  const seen = { small: 0, capital: 0, digit: 0 };
  let changes = 0;
  let before: keyof typeof seen | undefined;
  for (let i = 0; i < word.length; i++) {
    const kind = kindOf(word.charCodeAt(i));
    if (kind !== undefined) seen[kind] += 1;
    if (kind !== undefined && before !== undefined && kind !== before) changes += 1;
    before = kind;
  }
  const kinds = Object.values(seen).filter((count) => count > 0).length;
  return { kinds, digits: seen.digit, changes };
}

function kindOf(code: number): 'small' | 'capital' | 'digit' | undefined {
  if (code >= 0x61 && code <= 0x7a) return 'small';
  if (code >= 0x41 && code <= 0x5a) return 'capital';
  return code >= 0x30 && code <= 0x39 ? 'digit' : undefined;
}

function entropy(word: string): number {
  const counts = new Map<string, number>();
  for (const char of word) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / word.length) * Math.log2(count / word.length);
  return bits;
}
