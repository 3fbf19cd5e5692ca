// What only reads is not taken for a write, and a pattern for names is no file: the policy allows
// everything here, so that only what is protected is in the way.
import { expect, it } from 'vitest';
import { said } from './helper.ts';

it.each([
  // The files are there to be read.
  ['sqlite3 .vscode/app.db "SELECT 1"', 'allow'],
  ['sqlite3 .vscode/app.db .schema', 'allow'],
  ['sqlite3 .vscode/app.db "DELETE FROM a"', 'deny path.protected'],
  ['tar -tf .vscode/a.tar', 'allow'],
  ['tar -C out -xf .vscode/a.tar', 'allow'],
  ['tar -C .vscode -xf a.tar', 'deny path.protected'],
  ['tar -cf x.tar .husky', 'allow'],
  ['tar czf x.tgz .vscode', 'allow'],
  ['tar -cf .husky/x src', 'deny path.protected'],
  ['tar cf .husky/x src', 'deny path.protected'],
  ['tar -cf x.tar --remove-files .husky', 'deny path.protected'],
  ['tar -rf x.tar .husky', 'deny path.protected'],
  ['tar -xf x.tar .husky', 'deny path.protected'],
  ['zip -r x.zip .vscode', 'allow'],
  ['zip -r .husky/x.zip src', 'deny path.protected'],
  ['zip -m x.zip .vscode', 'deny path.protected'],
  ["zip -r -x '*.o' @ .husky/x.zip src", 'deny path.protected'],
  ['gunzip -c .vscode/a.gz', 'allow'],
  ['gzip -l .vscode/a.gz', 'allow'],
  ['gunzip .vscode/a.gz', 'deny path.protected'],
  ['xz -l -d .vscode/a.xz', 'deny path.protected'],
  ['rsync -a /etc/x/ ./y/', 'allow'],
  ['rsync -a ./y/ /etc/x/', 'deny path.protected'],
  ['rsync -a --remove-source-files /etc/x/ ./y/', 'deny path.protected'],
  ['rsync -a ~/.ssh/ ./y/', 'ask path.protected'],
  // They may hold secrets, and are asked about as what is read.
  ['gpg --decrypt a.gpg', 'ask path.protected'],
  ['gpg -d a.gpg', 'ask path.protected'],
  ['gpg --list-packets a.gpg', 'ask path.protected'],
  ['gpg --import a.gpg', 'ask path.protected'],
  ['gpg --verify a.sig a.txt', 'allow'],
  ['gpg -o .bashrc -d a.gpg', 'deny path.protected'],
  ['gpg a.gpg', 'deny path.protected'],
  ['gunzip -c .env.gz', 'ask path.protected'],
  // Patterns for names.
  ["grep --include='*.env' -rn x .", 'allow'],
  ["grep -rn x --include '*.env' src", 'allow'],
  ["rg -g '*.env' x", 'allow'],
  ["find . -name '*.env'", 'allow'],
  ['fd -e env', 'allow'],
  ['grep -f .env x', 'ask path.protected'],
  ['grep x .env', 'ask path.protected'],
  ['basename "$dir" .env', 'allow'],
  ['basename ~/.ssh/id_rsa', 'allow'],
])('%s: %s', (command, expected) => {
  expect(said({ default: 'allow' }, command)).toBe(expected);
});

it.each([
  ["grep --include='*.env' -rn x .", 'ask argument.effect'],
  ["grep -rn x --include='config/*' .", 'allow'],
  ["find . -name '*.env'", 'allow'],
  ["find . -name '*.env' -exec cat {} +", 'ask path.protected'],
  ['basename "$dir"', 'allow'],
  ['tar -C out -xf a.tar', 'allow'],
  ['tar -C ../out -xf a.tar', 'ask path.outside'],
  ['tar -tf a.tar', 'allow'],
  ['sqlite3 app.db "SELECT 1"', 'allow'],
])('%s under a rule: %s', (command, expected) => {
  const allow = ['grep *', 'find *', 'cat *', 'basename *', 'tar -tf *', 'sqlite3 *'];
  expect(said({ allow: [...allow, 'tar -C <path> -xf <path>'] }, command)).toBe(expected);
});
