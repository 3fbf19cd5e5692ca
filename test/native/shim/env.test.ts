// A process sees the environment it would have without us, and no secret of it goes into a trace.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bare, framesOf, program, traced, work } from './helper.ts';

describe('what is ours is hidden', () => {
  it.each([
    ['env', ['env']],
    ['printenv', ['printenv']],
    ['a shell', ['bash', '-c', 'export -p; env']],
    ['Python', ['python3', '-c', 'import os; print(dict(os.environ))']],
    ['Perl', ['perl', '-e', 'print map { "$_=$ENV{$_}\\n" } sort keys %ENV']],
  ])('%s prints the same bytes', (_, argv) => {
    const run = traced(argv);
    expect(run).toMatchObject(bare(argv));
    expect(framesOf(run, 'start').length).toBeGreaterThan(0);
  });

  it('whatever the user has in LD_PRELOAD and ASAN_OPTIONS', () => {
    const library = program('nothing', 'cc -shared -fPIC');
    for (const LD_PRELOAD of ['', library, `${library}:${library}`, `${library} `, `:${library}`]) {
      for (const ASAN_OPTIONS of ['', 'a=1', 'verify_asan_link_order=0']) {
        const env = { FIRST: '1', LD_PRELOAD, MIDDLE: '2', ASAN_OPTIONS, LAST: '3' };
        const argv = ['sh', '-c', '/usr/bin/env; exec /usr/bin/env'];
        expect(traced(argv, { env })).toMatchObject(bare(argv, { env }));
      }
    }
  });

  it('also where the handshake fails: then the shim is off, and nothing shows it', () => {
    const prepare = (): void => {}; // no trace.bin at all
    const argv = ['sh', '-c', '/usr/bin/env; /bin/sh -c /usr/bin/env'];
    expect(traced(argv, { prepare })).toMatchObject(bare(argv));
  });

  it('a program that writes over its environment to change its title keeps its trace', () => {
    const titled = program('titled');
    const run = traced([titled]);
    expect(run).toMatchObject({ status: 0, stdout: 'titled\n', stderr: '' });
    const names = framesOf(run, 'start').map((frame) => frame.argv[0]);
    expect(names).toEqual([titled, '/bin/echo']);
  });
});

describe('secrets', () => {
  const env = {
    API_KEY: 'key-0123456789',
    db_password: 'hunter2hunter2',
    SHORT_TOKEN: 'abc',
    MY_SECRET: 'key-0123456789-longer',
    PLAIN: 'plain-value',
  };
  const header = { envNames: ['API_KEY', 'db_password', 'SHORT_TOKEN', 'PLAIN', 'MIXED'] };

  it('every name that says so is known, in capitals and in small letters', () => {
    const names = 'X_KEY x_secret X_TOKEN x_pass XPASSWORD xpasswd XPASSPHRASE xauthtoken '
      .concat('MYSQL_PWD sshpass TOKEN secret APIKEY')
      .split(' ');
    const others = ['MONKEY', 'COMPASS', 'XPWD', 'KEY', 'PASS', 'TOKENS'];
    const values = [...names, ...others].map((name) => [name, `<${name}-value>`] as const);
    const run = traced(['/bin/echo', ...values.map(([, value]) => value)], {
      env: Object.fromEntries(values),
    });
    expect(framesOf(run, 'start')[0]?.argv).toEqual([
      '/bin/echo',
      ...names.map((name) => `[${name}]`),
      ...others.map((name) => `<${name}-value>`),
    ]);
  });

  it('values of secret variables never come into the file', () => {
    const words = ['--key=key-0123456789', 'x-hunter2hunter2-y', 'key-0123456789-longer', 'abc'];
    const mixed = { ...env, MIXED: 'has key-0123456789 in it' };
    const run = traced(['sh', '-c', '/bin/echo "$@"; exec /bin/echo "$@"', 'sh', ...words], {
      env: mixed,
      header,
    });
    expect(run.status).toBe(0);
    const bytes = readFileSync(run.trace, 'latin1');
    for (const value of ['key-0123456789', 'hunter2hunter2', 'SHORT_TOKEN=']) {
      expect(bytes).not.toContain(value);
    }
    const starts = framesOf(run, 'start');
    expect(starts).toHaveLength(3);
    for (const start of starts) {
      expect(start.redacted).toBe(true);
      expect(start.argv.slice(-4)).toEqual([
        '--key=[API_KEY]',
        'x-[db_password]-y',
        '[MY_SECRET]',
        'abc',
      ]);
      expect(start.env).toEqual({ PLAIN: 'plain-value', MIXED: 'has [API_KEY] in it' });
    }
    for (const exec of framesOf(run, 'exec')) {
      expect(exec).toMatchObject({ redacted: true });
      expect(exec.argv.slice(-2)).toEqual(['[MY_SECRET]', 'abc']);
    }
  });

  it('a secret that only the child gets is taken out of the words of its parent too', () => {
    const run = traced(['bash', '-c', 'X_TOKEN=only-for-it /bin/echo only-for""-it; true']);
    expect(run.stdout).toBe('only-for-it\n');
    const exec = framesOf(run, 'exec').at(-1);
    expect(exec).toMatchObject({ argv: ['/bin/echo', '[X_TOKEN]'], redacted: true });
    // In the text of the shell it is an assignment, to a name that says enough.
    const text = framesOf(run, 'start')[0]?.argv[2];
    expect(text).toBe('X_TOKEN=[X_TOKEN] /bin/echo only-for""-it; true');
  });

  it.each([
    ['env -i', 'env -i /bin/echo "$API_KEY"; true'],
    ['unset', 'x=$API_KEY; unset API_KEY; /bin/echo a "$x"; exec /bin/echo b "$x"'],
    [
      'Python',
      `python3 -c "import os; k = os.environ.pop('API_KEY'); os.system('/bin/echo ' + k)"`,
    ],
    ['a script', '$SCRIPT "$API_KEY"; env -i $SCRIPT "$API_KEY"; true'],
    ['many of them', `env -i /bin/echo ${'"$API_KEY" '.repeat(40)}; true`],
  ])('a value that has left the environment: %s', (_, text) => {
    const script = join(work, 'secret-script');
    writeFileSync(script, '#!/bin/sh -e\necho script\n', { mode: 0o755 });
    const run = traced(['bash', '-c', text], { env: { ...env, SCRIPT: script } });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(run.trace, 'latin1')).not.toContain('key-0123456789');
    const last = framesOf(run, 'start').at(-1);
    expect(last?.redacted || last?.cut).toBe(true);
  });

  it.each([
    ['env X_TOKEN=abc true', 'env X_TOKEN=[X_TOKEN] true'],
    ['x="--api_key=abc d"', 'x="--api_key=[api_key] d"'],
    ["A_PASSWORD='a b' c", 'A_PASSWORD=[A_PASSWORD] c'],
    ['MY_SECRET=a;b', 'MY_SECRET=[MY_SECRET];b'],
    ['KEY=a TOKENS=b', 'KEY=a TOKENS=b'],
  ])('an assignment in the text of a shell: %s', (text, expected) => {
    const run = traced(['sh', '-c', `: ${text}`]);
    expect(framesOf(run, 'start')[0]?.argv[2]).toBe(`: ${expected}`);
  });

  it('an assignment that is a word, up to its end, and its value in the other words', () => {
    const run = traced(['env', 'X_TOKEN=abc def; ghi', 'echo', 'abc def; ghi', '--Y_KEY=q r']);
    expect(run.stdout).toBe('abc def; ghi --Y_KEY=q r\n');
    const words = ['[X_TOKEN]', '--Y_KEY=[Y_KEY]'];
    expect(framesOf(run, 'start').map((frame) => frame.argv)).toEqual([
      ['env', 'X_TOKEN=[X_TOKEN]', 'echo', ...words],
      ['echo', ...words],
    ]);
  });

  it('what its own words call one never comes into the file', () => {
    const value = 'hunter2-Hunter';
    const words = [
      ...['--password', value, '-password', `$${value}`, `--api-key=${value} x`, '--sort-key=name'],
      ...[`PGPASSWORD=${value}-2`, `https://me:${value}@example.org/x`, `x --token '${value}'; y`],
      ...['--password-stdin', 'web', '-p', '80:80', 'git@example.org:me/x', '--no-password', 'z'],
      ...[`--from-literal=password=${value}`, '--client-secret', value, '--secret', 'id=npm'],
    ];
    const run = traced(['/bin/sh', '-c', '/bin/echo "$@"; :', 'sh', ...words]);
    const kept = [
      ...['--password', '[password]', '-password', '[password]', '--api-key=[api-key]'],
      ...['--sort-key=name', 'PGPASSWORD=[PGPASSWORD]', 'https://me:[password]@example.org/x'],
      ...['x --token [token]; y', '--password-stdin', 'web', '-p', '80:80', 'git@example.org:me/x'],
      ...['--no-password', 'z', '--from-literal=password=[password]'],
      ...['--client-secret', '[client-secret]', '--secret', 'id=npm'],
    ];
    const shown = framesOf(run, 'start').map(({ argv }) => argv.slice(-kept.length));
    expect(shown).toEqual([kept, kept]);
    expect(framesOf(run, 'start').map(({ redacted }) => redacted)).toEqual([true, true]);
    expect(readFileSync(run.trace, 'latin1')).not.toContain(value);
  });

  it('however a shell spells it', () => {
    const value = 'hunter2-Hunter';
    const texts = [
      `: PGPASSWORD="a"${value} x`,
      `: PGPASSWORD=a'b ${value}' x`,
      `: PGPASSWORD=$'${value}' x`,
      `: -e "PGPASSWORD=${value}" "b c"`,
      `: PGPASSWORD=[a]${value} '--token' "a"${value} --token \\\n ${value}`,
      `: 'PGPASSWORD="a ${value}"' 'b' "PGPASSWORD=\\"a ${value}\\" x" c`,
    ];
    const words = [`-eMYSQL_PWD=a ${value}`, `--env=X_KEY=a ${value}`, `a://me:$${value}@b`];
    const seen = texts.map((text) => {
      const run = traced(['/bin/bash', '-c', text, 'sh', ...words]);
      expect(readFileSync(run.trace, 'latin1')).not.toContain(value);
      return framesOf(run, 'start').map(({ argv }) => argv.slice(2));
    });
    const kept = ['sh', '-eMYSQL_PWD=[MYSQL_PWD]', '--env=X_KEY=[X_KEY]', 'a://me:[password]@b'];
    const shown = [
      ': PGPASSWORD=[PGPASSWORD] x',
      ': PGPASSWORD=[PGPASSWORD] x',
      ': PGPASSWORD=[PGPASSWORD] x',
      ': -e "PGPASSWORD=[PGPASSWORD]" "b c"',
      `: PGPASSWORD=[PGPASSWORD] '--token' [token] --token \\\n [token]`,
      `: 'PGPASSWORD=[PGPASSWORD]' 'b' "PGPASSWORD=[PGPASSWORD] x" c`,
    ];
    expect(seen).toEqual(shown.map((text) => [[text, ...kept]]));
  });

  it('any number of them is taken out, and the other words stay', () => {
    const many = Object.fromEntries(
      Array.from({ length: 3000 }, (_, i) => [`N${i}_TOKEN`, `secret-number-${i}-`]),
    );
    const words = ['secret-number-2999-', 'x', '--at=secret-number-17-'];
    const run = traced(['/bin/sh', '-c', '/bin/echo "$@"; unset N7_TOKEN; :', 'sh', ...words], {
      env: many,
    });
    const kept = ['[N2999_TOKEN]', 'x', '--at=[N17_TOKEN]'];
    expect(framesOf(run, 'start').map(({ argv }) => argv.slice(-3))).toEqual([kept, kept]);
    expect(framesOf(run, 'start').map(({ cut }) => cut)).toEqual([false, false]);
    expect(framesOf(run, 'exec')[0]).toMatchObject({ argv: ['/bin/echo', ...kept] });
    expect(readFileSync(run.trace, 'latin1')).not.toContain('secret-number');
  });
});
