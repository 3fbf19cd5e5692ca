import { describe, expect, it } from 'vitest';
import { looksSecret } from '../../../src/policy/generate/secrets.ts';

// Put together here, so that nobody who scans this repository takes them for true.
const made = (...parts: readonly string[]): string => parts.join('');
const RANDOM = made('q7Zk2Vx9', 'Lm4Tp8Rw', '1Yc6Nb3H');

describe('what looks like a secret', () => {
  it.each([
    ['a token of GitHub', made('git clone https://', 'gh', 'p_', RANDOM, '@github.com/a/b')],
    ['a key of a model', made('curl -H "x: ', 'sk', '-', RANDOM, '"')],
    ['a key id of AWS', made('aws configure set x AKIA', 'ABCDEFGHIJKLMNOP')],
    ['a token of Slack', made('notify xox', 'b-1234-', RANDOM)],
    ['a JSON web token', made('curl -b x=ey', 'JhbGciOiJIUzI1NiJ9.ey', 'JzdWIiOiIxIn0.abc')],
    ['a password in an assignment', 'DB_PASSWORD=hunter2 npm test'],
    ['a token in an assignment', 'export DEPLOY_TOKEN=abc; make deploy'],
    ['a password as an option', 'tool login --password hunter2'],
    ['a password in a query', 'curl "http://localhost/?password=hunter2"'],
    ['an authorization header', `curl -H 'Authorization: Basic abc' http://localhost`],
    ['a bearer', `http GET localhost 'Auth:Bearer abcdefgh1234'`],
    ['a user in an address', 'psql postgres://app:hunter2@localhost/db'],
    ['curl -u', 'curl -u app:hunter2 http://localhost'],
    ['mysql -p', 'mysql -u app -phunter2 shop'],
    ['a key in JSON', `curl -d '{"api_key": "abc"}' http://localhost`],
    ['a long random word', `tool run ${RANDOM}`],
    ['32 hexadecimal digits', 'tool run 9f86d081884c7d659a2feaa0c55ad015'],
    ['what was taken out already', 'echo [REDACTED:API_KEY]'],
    ...[
      ...['redis-cli -a hunter2 ping', 'unzip -P hunter2 a.zip', 'zip -P hunter2 a.zip x'],
      ...['7z x -phunter2 a.7z', 'openssl enc -k hunter2 -in x', 'ldapsearch -w hunter2 -x'],
      ...['htpasswd -bc f me hunter2', 'mongosh -u me -p hunter2', 'smbclient //h -U me%hunter2'],
    ].map((command): [string, string] => [command, command]),
  ])('is %s', (_, command) => {
    expect(looksSecret(command)).toBe(true);
  });

  it.each([
    'git commit -m "auth: refresh the token when it expires"',
    'git show 9fceb02d0ae598e95dc970b74767f19372d61af8 --stat',
    'grep -rn "password" src',
    'rg -n "createConnectionPoolFromEnvironment" src',
    'npx vitest run test/policy/generate/secrets.test.ts',
    'cat packages/authentication/src/authentication-middleware.test.ts',
    'docker compose logs --tail=50 api',
    'cargo test parser::tests::nested_groups_are_closed -- --nocapture',
    'git checkout -b feature/token-refresh-for-long-running-sessions',
    'echo "$GITHUB_TOKEN" | wc -c',
    'go test ./internal/store -run TestInsertWithTransactionRollback -v',
    'docker run -v "$PWD:/app" node:20 npm test',
  ])('is not %s', (command) => {
    expect(looksSecret(command)).toBe(false);
  });
});
