// Wildcards that the shell expands: one that hides a letter of a protected name means that file, in
// any directory, and one that means many files is none.
import { expect, it } from 'vitest';
import { said } from './helper.ts';

const READING = { allow: ['cat *', 'ls *', 'find *', 'xargs cat *'], more: 'filters: true\n' };

it.each([
  'cat packages/web/.e*',
  'cat packages/web/.en?',
  'cat packages/*/.[e]nv',
  'cat .en[[:alpha:]]',
  'cat web/.en[^[:digit:]]',
  'cd packages && cat web/.e*',
  'for f in web/.e*; do cat "$f"; done',
  'cat < web/.e*',
  'cat web/.g?t/config',
  'cat sub/.ss?/known_hosts',
  'cat sub/.ssh/id_*',
  'cat certs/server.pe?',
  'cat certs/*.p?m',
  'cat config/*env',
  'cat infra/terraform.tfstat?',
  'cat sub/[s]ecrets.yml',
  'cat sub/wp-config.ph?',
  "find . -regex '.*.en.' -exec cat {} +",
  'ls web/.en? | xargs cat',
])('%s may read a secret', (command) => {
  expect(said(READING, command)).toBe('ask path.protected');
});

const WRITING = { default: 'allow', allow: ['touch *'] };

it.each([
  'touch sub/.[g]it',
  'cp x sub/.?it/config',
  'rm -rf packages/*/.c[l]aude',
  'tee web/.vscod?/tasks.json',
  'echo x > sub/.[e]nvrc',
  'cp x web/node_modules/.b?n/eslint',
  'sed -i s/a/b/ web/.github/*/ci.yml',
  'sed -i s/a/b/ web/CLAUD?.md',
  'pytest --junitxml=.git/[c]onfig',
  'sort --output=.git/hooks/?re-commit x',
])('%s would write what is protected', (command) => {
  expect(said(WRITING, command)).toMatch(/^(?:ask|deny) path\.protected$/);
});

it.each([
  'ls src/*.json',
  'cat src/s* docs/c* lib/t* src/server* src/id*',
  'cat src/*.p* src/*.k* src/*.j* src/*.ts',
  'cat src/[a-z]*.ts src/[]x]*.ts',
  'cat */README.md .github/workflows/*.yml',
  'ls config/* src/*/index.ts',
])('%s is for many files, and may be read', (command) => {
  expect(said(READING, command)).toBe('allow');
});

it.each([
  'sed -i s/a/b/ */index.ts',
  'sed -i s/a/b/ src/*.md docs/A*',
  'rm -rf build/* dist/v*',
  'touch src/*.py src/h*',
])('%s is for many files, and may be written', (command) => {
  expect(said(WRITING, command)).toBe('allow');
});
