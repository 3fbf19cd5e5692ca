// Secrets that a command line shows by its own words, and words that only look alike.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandRedactor, redactor } from '../../src/text/redact.ts';
import { isSecretName, redactText, redactWords } from '../../src/text/secret-words.ts';

const V = 'hunter2-Hunter';

describe('the name of a variable', () => {
  it.each([
    ...['PGPASSWORD', 'MYSQL_PWD', 'SSHPASS', 'DB_PASS', 'API_KEY', 'GH_TOKEN', 'X_SECRET'],
    ...['RESTIC_PASSWORD', 'KEY_PASSPHRASE', 'token', '_authToken', 'ROOT_PASSWD'],
  ])('%s says that it is one', (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(redactText(`${name}=${V} psql -h db`)).toBe(`${name}=[REDACTED:${name}] psql -h db`);
    expect(redactor({ [name]: V })(`echo ${V}`)).toBe(`echo [REDACTED:${name}]`);
  });

  it.each(['PWD', 'OLDPWD', 'KEYBOARD', 'TOKENS', 'COMPASS', 'BYPASS', 'PASSED', 'KEY', 'HOME'])(
    '%s does not',
    (name) => expect(isSecretName(name)).toBe(false),
  );
});

describe('the text of a command', () => {
  it.each([
    [`mycli --password ${V} -h db`, 'mycli --password [REDACTED:password] -h db'],
    [`mycli --password='${V} x'; ls`, "mycli --password='[REDACTED:password]'; ls"],
    [`mycli -password "${V} x"`, 'mycli -password "[REDACTED:password]"'],
    [`x --api-key=${V}|y`, 'x --api-key=[REDACTED:api-key]|y'],
    [`x --registry-token ${V}`, 'x --registry-token [REDACTED:registry-token]'],
    [`x --client-secret=${V}`, 'x --client-secret=[REDACTED:client-secret]'],
    [`bash -c 'x --token ${V}'`, "bash -c 'x --token [REDACTED:token]'"],
    [
      `psql postgres://me:${V}@db.example.org/x`,
      'psql postgres://me:[REDACTED:password]@db.example.org/x',
    ],
    [
      `git clone https://me:p@${V}@example.org/x`,
      'git clone https://me:[REDACTED:password]@example.org/x',
    ],
    [
      `curl "https://example.org/?api_key=${V}&b=1"`,
      'curl "https://example.org/?api_key=[REDACTED:api_key]&b=1"',
    ],
    [`curl -u me:${V} https://example.org`, 'curl -u me:[REDACTED:password] https://example.org'],
    [
      `curl -H "Authorization: Bearer ${V}" x`,
      'curl -H "Authorization: Bearer [REDACTED:authorization]" x',
    ],
    [`mysqldump -u root -p${V} shop`, 'mysqldump -u root -p[REDACTED:password] shop'],
    [`sshpass -p ${V} ssh -p 22 host`, 'sshpass -p [REDACTED:password] ssh -p 22 host'],
    [`PGPASSWORD="a"${V} x`, 'PGPASSWORD=[REDACTED:PGPASSWORD] x'],
    [`PGPASSWORD=a'b ${V}' x`, 'PGPASSWORD=[REDACTED:PGPASSWORD] x'],
    [`PGPASSWORD=$'${V}' x`, 'PGPASSWORD=[REDACTED:PGPASSWORD] x'],
    [`PGPASSWORD=[a]${V} x`, 'PGPASSWORD=[REDACTED:PGPASSWORD] x'],
    [`PGPASSWORD+=${V}; x`, 'PGPASSWORD+=[REDACTED:PGPASSWORD]; x'],
    [`x '--password' "a"${V}`, "x '--password' [REDACTED:password]"],
    [`x --token \\\n  ${V}`, 'x --token \\\n  [REDACTED:token]'],
    [
      `docker run -e "PGPASSWORD=${V}" a "b c"`,
      'docker run -e "PGPASSWORD=[REDACTED:PGPASSWORD]" a "b c"',
    ],
    [`docker run -eMYSQL_PWD=${V} a`, 'docker run -eMYSQL_PWD=[REDACTED:eMYSQL_PWD] a'],
    [
      `sh -c "PGPASSWORD=\\"a ${V}\\" x"; ls "b"`,
      'sh -c "PGPASSWORD=[REDACTED:PGPASSWORD] x"; ls "b"',
    ],
    [`sh -c 'x --token="a ${V}"' 'b'`, `sh -c 'x --token="[REDACTED:token]"' 'b'`],
    [
      `curl https://me@example.org:${V}@proxy.example.org`,
      'curl https://me@example.org:[REDACTED:password]@proxy.example.org',
    ],
    [
      `k create --from-literal=password=${V}`,
      'k create --from-literal=password=[REDACTED:password]',
    ],
  ])('%s', (text, safe) => {
    expect(redactText(text)).toBe(safe);
    expect(redactText(safe)).toBe(safe);
  });

  it.each([
    'docker login --password-stdin -u me registry.example.org',
    'docker run -p 80:80 --name web nginx',
    'git clone git@example.org:me/project.git && cd project',
    'git clone ssh://git@example.org:22/me/project',
    'gh auth login --with-token < token.txt',
    'psql --no-password -h db; psql --ask-password foo',
    'sort --key=2 --sort-key name file',
    'docker build --secret id=npm,src=.npmrc .',
    'x --password "$PASSWORD" --token=$TOKEN --api-key `cat key`',
    'x --password --verbose; y --token; z --password | cat',
    'x --password-file f --token-file=g --max-tokens 100 --tokenizer fast',
    'mysql -p shop; mysql -P 3306 -u root; grep -p mysql; ssh -p22 host',
    'curl -u me https://example.org:8080/a@b; curl https://example.org/a:b@c',
    'echo password: is it; grep -r token src; ls key= ; echo "--password"',
    'make PASSES=3 KEYS=4 COMPASS=north PWD=/srv/project',
  ])('stays as it is: %s', (text) => {
    expect(redactText(text)).toBe(text);
    const words = text.split(' ');
    if (!/["`$]/.test(text) && !text.includes(';')) expect(redactWords(words)).toBe(words);
  });

  it('has no secret left, wherever a value stands', () => {
    const value = fc
      .stringMatching(/^[A-Za-z0-9%+,.:_~!-]{6,24}$/)
      .filter((text) => !/^-/.test(text));
    const option = fc.constantFrom(
      '--password',
      '--db-password',
      '-token',
      '--api-key',
      '--passwd',
    );
    const around = fc.array(fc.constantFrom('ls', '-la', '|', '&&', 'x=1', "'a b'", '>', 'out'));
    fc.assert(
      fc.property(
        option,
        fc.constantFrom('=', ' ', "='", ' "'),
        value,
        around,
        around,
        (name, sign, secret, before, after) => {
          fc.pre(![...before, ...after, name].some((word) => word.includes(secret)));
          const quote = /['"]$/.exec(sign)?.[0] ?? '';
          const text = [...before, `${name}${sign}${secret}${quote}`, ...after].join(' ');
          const safe = redactText(text);
          expect(safe).not.toContain(secret);
          expect(redactText(safe)).toBe(safe);
        },
      ),
    );
  });

  it('is untouched without a word that says so', () => {
    const word = fc.stringMatching(/^[a-z0-9./=@:-]{1,12}$/);
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const text = words.join(' ');
        fc.pre(!/pass|token|secret|key|curl|mysql|auth|:\/\//.test(text));
        expect(redactText(text)).toBe(text);
        expect(redactWords(words)).toBe(words);
      }),
    );
  });

  it('takes no longer for hostile text than for any other', () => {
    for (const part of ['--password ', 'a://b:', "'", '-x-', 'curl -u a:', 'A_KEY=', '"\\']) {
      const text = part.repeat(20_000);
      expect(redactText(text).length).toBeGreaterThan(0);
    }
  });

  it('comes after the values of the environment', () => {
    const redact = commandRedactor(redactor({ DB_PASSWORD: V }));
    expect(redact(`x --password ${V} --token other-value`)).toBe(
      'x --password [REDACTED:DB_PASSWORD] --token [REDACTED:token]',
    );
  });
});

describe('the words of a program', () => {
  it.each([
    [
      ['x', '--password', `${V} x`, '-v'],
      ['x', '--password', '[password]', '-v'],
    ],
    [
      ['x', `--api-key=${V} x`],
      ['x', '--api-key=[api-key]'],
    ],
    [
      ['env', `PGPASSWORD=${V} x`, 'psql'],
      ['env', 'PGPASSWORD=[PGPASSWORD]', 'psql'],
    ],
    [
      ['/usr/bin/mysql', `-p${V}`, 'shop'],
      ['/usr/bin/mysql', '-p[password]', 'shop'],
    ],
    [
      ['sshpass', '-p', V, 'ssh', '-p', '22'],
      ['sshpass', '-p', '[password]', 'ssh', '-p', '22'],
    ],
    [
      ['sh', '-c', `x --token ${V}; y`],
      ['sh', '-c', 'x --token [token]; y'],
    ],
    [
      ['x', '--env=PGPASSWORD=a b', `-eMYSQL_PWD=a ${V}`, `-uhttps://me:${V}@example.org`],
      [
        'x',
        '--env=PGPASSWORD=[PGPASSWORD]',
        '-eMYSQL_PWD=[eMYSQL_PWD]',
        '-uhttps://me:[password]@example.org',
      ],
    ],
    [
      ['psql', `postgres://me:$${V}@db`, `postgres://me:a'${V}@db`, `http://me:-${V}@db`],
      [
        'psql',
        'postgres://me:[password]@db',
        'postgres://me:[password]@db',
        'http://me:[password]@db',
      ],
    ],
    [
      ['mysql', `-p$${V}`, '-p'],
      ['mysql', '-p[password]', '-p'],
    ],
    [
      ['curl', `-ume:${V}`, `--user=me:${V}`, '-u', 'me'],
      ['curl', '-ume:[password]', '--user=me:[password]', '-u', 'me'],
    ],
    [
      ['git', 'clone', `https://me:${V}@example.org/`],
      ['git', 'clone', 'https://me:[password]@example.org/'],
    ],
  ])('%j', (words, safe) => {
    expect(redactWords(words)).toEqual(safe);
    expect(redactWords(safe)).toBe(safe);
  });
});
