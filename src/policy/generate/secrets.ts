// Whether a command holds what looks like a secret. Such a command never gets into a policy, so
// that when in doubt it counts as one: leaving a harmless command out costs a rule, no more.

/** What issuers put in front of theirs, and shapes that nothing else has. */
const KNOWN = new RegExp(
  [
    '\\b(?:ghp|gho|ghu|ghs|ghr)_\\w{8,}|\\bgithub_pat_\\w{8,}|\\bglpat-[\\w-]{8,}',
    '\\bsk-[\\w-]{8,}|\\b(?:sk|pk|rk)_(?:live|test)_\\w{6,}',
    '\\bAIza[\\w-]{10,}|\\bya29\\.[\\w-]{6,}',
    '\\b(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{12,}|\\bxox[abeoprs]-[\\w-]{6,}|\\bxapp-[\\w-]{6,}',
    '\\bnpm_[A-Za-z0-9]{16,}|\\bpypi-[\\w-]{16,}|\\bhf_[A-Za-z0-9]{12,}|\\bdop_v1_\\w{8,}',
    '\\bhv[sb]\\.[\\w-]{8,}|\\bSG\\.[\\w-]{8,}|\\bdckr_pat_[\\w-]{8,}|\\bATATT[\\w-]{8,}',
    '\\beyJ[\\w-]{6,}\\.[\\w-]{4,}|-----BEGIN [A-Z ]*PRIVATE KEY|\\[REDACTED:',
    'hooks\\.slack\\.com/services/|discord(?:app)?\\.com/api/webhooks/',
  ].join('|'),
);

/** A name that says so, and a value behind it: `DB_PASSWORD=x`, `--token x`, `"api_key": "x"`. */
const NAME = 'pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key';
const MORE = `${NAME}|credentials?|auth|bearer|cookie|session[_-]?id|signature|client[_-]?secret`;
// Bounded: a long word with many of them would be looked at from each of them on.
const LEAD = '(?:^|[^a-z])(?:[a-z0-9]{1,32}[_-]){0,8}';
const NAMED = new RegExp(
  [
    `${LEAD}(?:${MORE})["']?\\s*=\\s*["']?[^\\s"'$<=]`,
    `["'](?:[a-z0-9]{1,32}[_-]){0,8}(?:${MORE})["']\\s*:\\s*["']?[^\\s"'$<]`,
    // In prose, `token: abc` is only a secret when it looks like one.
    `${LEAD}(?:${NAME})\\s*:\\s*["']?(?=[^\\s"']*\\d)[^\\s"'$<]{6,}`,
    `(?:^|\\s)--?(?:[a-z0-9]{1,32}-){0,8}(?:${NAME}|credentials?)(?:=|\\s+)["']?[^\\s"'$-]`,
  ].join('|'),
  'i',
);
const ASSIGNED = new RegExp(
  '(?:^|[\\s;&|("\'])\\w{0,64}(?:TOKEN|SECRET|PASSW(?:OR)?D|_KEY|_PAT|_PWD|_DSN|_AUTH|CREDENTIALS?)' +
    '\\w{0,64}=["\']?[^\\s"\'$]',
);

const HEADER = /\b(?:(?:proxy-)?authorization|x-api-key|x-auth-token|private-token|cookie)\s*:/i;
const SCHEME = /\b(?:bearer|basic)\s+[\w+/.~=-]{8,}/i;
const USER_INFO = /\b[a-z][a-z0-9+.-]{0,31}:\/\/[^\s/@"'`:]*:[^\s/@"'`]+@/i;
const TOKEN_USER = /https?:\/\/[^\s/@:"'`]{16,}@/i;
/** `curl -u name:secret`, `mysql -pSecret`, `sshpass -p x`, `docker login -p x`. */
const USER_OPTION = /(?:^|\s)(?:-u|--user|--proxy-user)(?:=|\s*)["']?[^\s"':$]+:[^\s"'$]/;
const PASSWORD_OPTION = new RegExp(
  '\\b(?:mysql|mysqldump|mysqladmin|mariadb)\\b[^|;&\\n]*\\s-p["\']?[^\\s"\'$]' +
    '|\\bsshpass\\s+-p|\\blogin\\b[^|;&\\n]*\\s-p[\\s=]*\\S' +
    '|\\b(?:redis-cli|valkey-cli)\\b[^|;&\\n]*\\s-a|\\b(?:un)?zip\\b[^|;&\\n]*\\s-P' +
    '|\\b(?:7z[ar]?|rar|unrar|mongo\\w*)\\b[^|;&\\n]*\\s-p|\\bopenssl\\b[^|;&\\n]*\\s-(?:k|pass)' +
    '|\\bldap\\w+\\b[^|;&\\n]*\\s-w|\\bhtpasswd\\b[^|;&\\n]*\\s-\\w*b|\\b(?:kinit|sqlcmd|bcp)\\s' +
    '|\\bsmbclient\\b[^|;&\\n]*%|\\blftp\\b[^|;&\\n]*\\s-u',
);

export function looksSecret(command: string): boolean {
  return (
    [KNOWN, NAMED, ASSIGNED, HEADER, SCHEME, USER_INFO, TOKEN_USER, USER_OPTION].some((pattern) =>
      pattern.test(command),
    ) ||
    PASSWORD_OPTION.test(command) ||
    hasRandomWord(command)
  );
}

const WORD = /[A-Za-z0-9+/_=-]{20,}/g;
const RANDOM_LENGTH_MIN = 20;
/** Bits in a character; words of a language and paths stay below. */
const ENTROPY_MIN = 3.6;

/** A long run of letters and digits that nobody would think up: a key, most likely. */
function hasRandomWord(command: string): boolean {
  for (const [word] of command.matchAll(WORD)) if (pieces(word).some(isRandom)) return true;
  return false;
}

/** Without what makes a path or a name of words: those are judged one by one. */
function pieces(word: string): readonly string[] {
  return word.split(/[/_=-]+/).concat(word.includes('/') ? [] : [word.replace(/[_=-]/g, '')]);
}

function isRandom(word: string): boolean {
  if (word.length < RANDOM_LENGTH_MIN) return false;
  // The id of a commit, or a digest, is no secret; a number is none either.
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64}|\d+)$/.test(word)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(word)).length;
  const digits = word.replace(/\D/g, '').length;
  // Names of functions have humps; what has digits all over, or changes at every letter, is none.
  if (kinds < 2 || (digits < 3 && changes(word) < word.length / 3)) return false;
  return entropy(word) >= ENTROPY_MIN || /^[0-9a-f]{32}$/i.test(word);
}

function changes(word: string): number {
  return [...word.matchAll(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|\d(?=[A-Za-z])|[A-Z](?=[a-z])/g)]
    .length;
}

function entropy(word: string): number {
  const counts = new Map<string, number>();
  for (const char of word) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / word.length) * Math.log2(count / word.length);
  return bits;
}
