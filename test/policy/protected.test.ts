// What is protected whatever the rules say: here nothing else is in the way.
import { expect, it } from 'vitest';
import { said } from './helper.ts';

it.each([
  'sed -i s/a/b/ .cuff/policy.yml',
  'sed -i.bak -e s/a/b/ .cuff/policy.yml',
  'sed -ni p ~/.bashrc',
  'prettier --write .claude/settings.json',
  'gofmt -w .git/hooks/pre-commit',
  'yq --inplace .a=1 .cuff/policy.yml',
  'find .cuff -delete',
  'rm -rf .cuff/spool',
  'cp forged.json .cuff/spool/sessions/a/meta.json',
  'tee sub/.cuff/spool/sessions/a/output.bin',
  'dd of=.cuff/policy.yml if=x',
  'rsync -a x/ .cuff/',
  'rm -rf .cuf*',
  'rm -rf .*',
  'mv .c* x',
  'rm .[c]uff/policy.yml',
  'rm ~/.bash*',
  'rm -rf ../app',
  'rm -rf ~',
])('%s would write what is protected', (command) => {
  expect(said({ default: 'allow' }, command)).toBe('deny path.protected');
});

it.each([
  ['dd if=.env of=x', 'ask path.protected'],
  ['dd if=a of=b bs=1M', 'allow'],
  ['sed s/a/b/ .cuff/policy.yml', 'allow'],
  ['sed -i s/a/b/ src/x', 'allow'],
  ['sort -o x ~/.bashrc', 'allow'],
  ['git diff --output=x .cuff/policy.yml', 'allow'],
  ['find . -name "*.pyc" -delete', 'allow'],
  ['eslint --fix src', 'allow'],
  ['rsync -a src/ dest/', 'allow'],
  ['rm -rf *', 'allow'],
  ['rm -f *.json .*.swp', 'allow'],
  ['rm -rf build', 'allow'],
  ['ls .c*', 'allow'],
])('%s: %s', (command, expected) => {
  expect(said({ default: 'allow' }, command)).toBe(expected);
});
