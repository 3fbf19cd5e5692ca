import { describe, expect, it } from 'vitest';
import { looksSecret } from '../../../src/policy/generate/secrets.ts';
import { workOf } from '../../pace.ts';

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
    ['an id that is no file', 'tool run e96403ed-cece-4b55-8a4f-36ad2f2639be'],
    ['an id in an address', made('curl https://hooks.example.org/', '9f86d081884c7d65'.repeat(2))],
    ['a key beside a path', `cat /tmp/x ${RANDOM}`],
    ['a key in a path', `cat /tmp/${RANDOM}`],
    ['letters that no person would choose', made('tool run ', 'qZkVxLmTpRwYcNbHsDfG')],
    ['32 hexadecimal digits', 'tool run 9f86d081884c7d659a2feaa0c55ad015'],
    ['what was taken out already', 'echo [REDACTED:API_KEY]'],
    ...[
      ...['redis-cli -a hunter2 ping', 'unzip -P hunter2 a.zip', 'zip -P hunter2 a.zip x'],
      ...['7z x -phunter2 a.7z', 'openssl enc -k hunter2 -in x', 'ldapsearch -w hunter2 -x'],
      ...['htpasswd -bc f me hunter2', 'mongosh -u me -p hunter2', 'smbclient //h -U me%hunter2'],
      // In headers, cookies and addresses.
      ...['curl -su app:hunter2 http://localhost', `curl -H 'X-Vault-Token: abc' http://localhost`],
      ...[`curl -H "api-key: abc" http://x`, `curl -H 'X-Shopify-Access-Token: ab' http://x`],
      ...['curl -b sid=abc http://localhost', 'http -a app:hunter2 GET localhost'],
      ...['curl "http://localhost/?key=abcdef"', 'curl "https://x.example/a?sv=1&sig=abc%3D"'],
      // As options and assignments, whatever the name begins with.
      ...['helm upgrade x --set auth.rootPassword=abc', 'mvn -Dpassword=abc', 'dbpass=abc ./run'],
      ...['SSHPASS=abc sshpass -e ssh a', 'PW=abc ./run', 'tool --secret_key=abc', 'tool --pw abc'],
      ...['tool --oauth2-bearer abc', 'jq --arg token abc .x', 'ssh-keygen -N hunter2 -f key'],
      ...['keytool -storepass changeit -list', 'twine upload -p hunter2 dist/*'],
      // Where it is kept.
      ...['aws configure set aws_secret_access_key abc', 'git config user.password hunter2'],
      ...[
        'npm config set //registry.example.org/:_authToken abc',
        'poetry config pypi-token.pypi ab',
      ],
      ...['gh secret set NAME --body abc', 'fly secrets set A=b', 'vault kv put secret/x a=b'],
      ...[
        'kubectl create secret generic x --from-literal=a=b',
        'cargo login abc',
        'vault login abc',
      ],
      ...['redis-cli AUTH hunter2', `psql -c "alter user me with password 'hunter2'"`],
      ...[`echo 'root:hunter2' | chpasswd`, 'echo hunter2 | docker login --password-stdin'],
      ...['echo -n hunter2 | sudo -S ls', 'cat > a.yml <<EOF\nsecret_key: abcd\nEOF'],
      // A key of AWS has slashes in it; a digest where nothing has one may be a key.
      ...[
        made('tool wJalrXUtnFEMI/K7', 'MDENG/bPxRfiCYzEXAMPLEKEY'),
        `tool ${'9fceb02d0a'.repeat(4)}`,
      ],
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
    'docker run --rm -v "$PWD":/app -w /app node:20 npm test',
    'docker run -u 1000:1000 node:20 npm test',
    'NODE_OPTIONS=--max-old-space-size=4096 npm run build',
    'git config --get credential.helper',
    'grep -rn "token" src | head -5',
    'cat ~/.tool/chats/161de6178d567afe49b568b14cf6d562/e96403ed-cece-4b55-8a4f-36ad2f2639be.json',
    'tail -5 "/home/user/.tool/log-e96403ed-cece-4b55-8a4f-36ad2f2639be.jsonl"',
    'grep -rn "func ListAllAgentChatSessions" pkg',
    'go test -run TestFormatToolAsMarkdown_AskUserQuestionAnswer ./pkg',
  ])('is not %s', (command) => {
    expect(looksSecret(command)).toBe(false);
  });

  it('is looked for in as many steps as there are characters', () => {
    const texts = ['a', 'a-', 'a_', 'TOKEN', 'key-', 'mysql ', ' zip', 'curl ', 'eyJa', '"a_'];
    const work = workOf(() => {
      for (const text of texts) looksSecret(text.repeat(131_072 / text.length));
    });
    // With one pattern that starts over at each character it is sixty times as much as it is.
    expect(work).toBeLessThan(300);
  });

  it.each([
    ['a', false],
    ['7', false],
    ['eyJa', true],
  ])('is looked for in ten megabytes of %s', (text, secret) => {
    expect(looksSecret(`echo ${text.repeat(10_000_000 / text.length)}`)).toBe(secret);
  });
});
