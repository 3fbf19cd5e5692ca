// Profiles of databases and of keys. The shells of databases run programs (`.shell`, `\!`), also
// when the words come from their input, so that they count as running code.

import type { Profile } from '../profile.ts';

const PSQL: Profile = {
  kind: 'exec',
  style: 'gnu',
  // A variable may be a prompt, which runs what is in backquotes; a name may be a whole address.
  options: `-c,--command:sql -f,--file:exec -o,--output:write -L,--log-file:write
    -v,--set,--variable:word!config -P,--pset:word!config -h,--host:net -d,--dbname:net
    -p,--port:int
    -U,--username:word -l,--list -t,--tuples-only -A,--no-align -x,--expanded -q,--quiet
    -X,--no-psqlrc -1,--single-transaction -F,--field-separator:word -R,--record-separator:word
    -T,--table-attr:word -a,--echo-all -b,--echo-errors -e,--echo-queries -E,--echo-hidden
    -n,--no-readline -s,--single-step -S,--single-line -w,--no-password -W,--password
    -z,--field-separator-zero -0,--record-separator-zero -H,--html --csv -V,--version --help?word`,
  operands: 'net word',
};

const MYSQL: Profile = {
  kind: 'exec',
  // Its own words (`system`, `source`, `tee`) need no sign in front of them.
  options: `-e,--execute:sql!exec --init-command:exec --pager?word!exec --tee:write
    --plugin-dir:exec --default-auth:exec --defaults-file:config --defaults-extra-file:config
    --defaults-group-suffix:config --login-path:config --local-infile?word!secret
    -p?word!secret --password?word!secret --ssl-key:path!secret --ssl-cert:path --ssl-ca:path
    --ssl-mode:word!config -h,--host:net -S,--socket:net -P,--port:int --protocol:word
    -u,--user:word -D,--database:word -N,--skip-column-names -B,--batch -s,--silent -t,--table
    -E,--vertical -r,--raw -v,--verbose -X,--xml -H,--html -f,--force -n,--unbuffered
    -A,--no-auto-rehash -V,--version --help`,
  operands: 'word',
};

/** Commands of redis that only look, in both spellings. */
const REDIS_READS = [
  ...['ping', 'info', 'get', 'mget', 'exists', 'ttl', 'pttl', 'type', 'strlen', 'llen', 'lrange'],
  ...['hget', 'hgetall', 'hkeys', 'hlen', 'scard', 'smembers', 'zcard', 'zrange', 'dbsize', 'keys'],
  ...['scan', 'xlen', 'xrange', 'time'],
];

const KEYS: Profile = { kind: 'config', operands: 'config*' };

const MONGO: Profile = {
  kind: 'exec',
  options: '--version --help --eval:exec',
  operands: 'exec*',
  deeds: { 'deleted 3': '--eval=*.drop*; --eval=*.deleteMany*; --eval=*.remove(*' },
};

/** What it does with its file, the statements tell. */
const SQLITE: Profile = {
  own: 'sqlite',
  kind: 'exec',
  style: 'go',
  options: `-init:exec -cmd:exec -unsafe-testing!exec -A!write -append!write -zip -vfs:config
      -nonce:word!exec -readonly -json -csv -header -noheader -column -line -list -html -markdown
      -box
      -table -tabs -quote -ascii -separator:word -nullvalue:word -newline:word -bail -batch -echo
      -safe -nofollow -stats -mmap:int -maxsize:int -deserialize -version -help`,
  operands: 'output sql*',
};

export const DATABASES: Readonly<Record<string, Profile>> = {
  sqlite3: SQLITE,
  psql: PSQL,
  mysql: MYSQL,
  mariadb: MYSQL,
  pg_dump: { kind: 'net', operands: '' },
  pg_isready: { kind: 'net', options: '-h,--host:url -p,--port:int -q -t:int', operands: '' },
  'redis-cli': {
    kind: 'exec',
    style: 'first',
    deeds: { 'deleted 3': 'flushall; flushdb', 'deleted 1': 'del; unlink' },
    options: `-h:net -u:net -s:net -a:word!secret --pass:word!secret --eval:exec --pipe!exec -x!exec
      --rdb:write --functions-rdb:write -p:int -n:int -r:int -i:word --raw --no-raw --json --csv
      --version --help`,
    subcommands: Object.fromEntries(
      [...REDIS_READS, ...REDIS_READS.map((word) => word.toUpperCase())].map(
        (word): [string, Profile] => [word, { kind: 'read', style: 'none', operands: 'word*' }],
      ),
    ),
  },
  mongosh: MONGO,
  mongo: MONGO,
  gpg: {
    kind: 'config',
    deeds: {
      'secret 2': '--export-secret-keys; --export-secret-subkeys; --decrypt',
      'deleted 3': '--delete-keys; --delete-secret-keys',
      decodes: '--decrypt',
    },
    options: `-k,--list-keys --list-public-keys --fingerprint -K,--list-secret-keys --verify
      -a,--armor --export-secret-keys!secret --export-secret-subkeys!secret -d,--decrypt!secret
      -o,--output:write --import!config --delete-keys!delete --delete-secret-keys!delete
      --homedir:config --options:config --batch --with-colons --keyid-format:word --version --help`,
    operandsWith: { '--verify': 'path*', '-k': 'word*', '--fingerprint': 'word*' },
  },
  openssl: {
    kind: 'exec',
    style: 'go',
    deeds: { decodes: 'enc -d; base64 -d; aes-256-cbc -d; cms -decrypt' },
    subcommands: {
      version: { kind: 'read', style: 'go', options: '-a -b -d -f -o -p -v' },
      x509: {
        kind: 'read',
        style: 'go',
        options: `-engine:exec -provider:exec -provider-path:exec -config:config -out:write
          -CA:path!write
          -CAkey:path!secret -signkey:path!secret -key:path!secret -passin:word!secret -req!write
          -in:path -inform:word -outform:word -noout -text -subject -issuer -dates -startdate
          -enddate -fingerprint -serial -hash -pubkey -purpose -modulus -checkend:int -sha256 -sha1
          -ext:word -email`,
      },
      dgst: {
        kind: 'read',
        style: 'go',
        options: `-engine:exec -provider:exec -provider-path:exec -out:write -sign:path!secret
          -passin:word!secret -hmac:word -sha256 -sha1 -sha512 -sha384 -md5 -hex -binary -r -c
          -verify:path -signature:path`,
        operands: 'path*',
      },
      rand: {
        kind: 'read',
        style: 'go',
        options: '-engine:exec -provider:exec -out:write -writerand:write -hex -base64',
        operands: 'word',
      },
    },
  },
  'ssh-keygen': {
    kind: 'write',
    style: 'exact',
    // Without `-f` it writes where ssh looks for keys.
    options: `-t:word!config -D:exec -w:exec -Y:word!exec -s:path!config -p!config -P:word!secret
      -N:word!secret -y!secret -R:word!delete -K!secret -l -f:output -F:word -E:word -v -q
      -b:int -C:word`,
  },
  'ssh-add': { kind: 'config', options: '-l -L -d!delete -D!delete -s:exec', operands: 'config*' },
  'ssh-keyscan': {
    kind: 'net',
    options: '-t:word -p:int -H -T:int -f:path!config',
    operands: 'url*',
  },
  pass: { ...KEYS, deeds: { 'secret 2': 'show; grep; otp', 'deleted 2': 'rm; delete; remove' } },
  op: { ...KEYS, deeds: { 'secret 2': 'read; item get; inject; document get' } },
  security: {
    ...KEYS,
    deeds: {
      'secret 2': 'find-generic-password; find-internet-password; dump-keychain; export',
      'deleted 2': 'delete-*',
    },
  },
  vault: {
    ...KEYS,
    deeds: { 'secret 2': 'read; kv get; print token; unwrap', 'deleted 2': 'delete; kv delete' },
  },
};
