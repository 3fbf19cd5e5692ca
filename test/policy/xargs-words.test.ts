// What xargs may be given under a rule: names that were looked for, and no text of a file.
import { expect, it } from 'vitest';
import { said } from './helper.ts';

it.each([
  ['git ls-files | xargs head', 'allow'],
  ['git diff --name-only | sort -u | xargs head -5', 'allow'],
  ['git grep -l x | xargs head', 'allow'],
  ['grep -rln x src | head -3 | xargs grep -n y', 'allow'],
  ['rg --files src | xargs wc -l', 'allow'],
  ["find . -name '*.ts' -printf '%p\\n' | xargs wc -l", 'allow'],
  ['cd src && ls -t | head -1 | xargs head', 'allow'],
  ['find src -type f | xargs grep -l x | xargs wc -l', 'allow'],
  ['find src -name x | xargs grep -l x | grep -v y', 'allow'],
  ['find src | xargs head 2>&1 | sort list', 'allow'],
  // What stands behind may be given to it all the same.
  ['f() { xargs head; }; sort list | f', 'ask path.unknown'],
  ['xargs head < <(sort list)', 'ask path.unknown'],
  ['exec > >(xargs head); sort list', 'ask path.unknown'],
  ['ls | xargs head | xargs wc; sort list', 'ask path.unknown'],
  ['ls | sort list | xargs head | sort', 'ask path.unknown'],
  // These print what is in a file, or what somebody chose.
  ['sort list | xargs head', 'ask path.unknown'],
  ['head -3 list | xargs head', 'ask path.unknown'],
  ['uniq list | xargs head', 'ask path.unknown'],
  ['comm list other | xargs head', 'ask path.unknown'],
  ['grep -h . list | xargs head', 'ask path.unknown'],
  ['rg -oN . list | xargs head', 'ask path.unknown'],
  ['git grep -h x | xargs head', 'ask path.unknown'],
  ['git log -1 --format=%s | xargs head', 'ask path.unknown'],
  ['git show HEAD:list | xargs head', 'ask path.unknown'],
  ['git ls-files --format=x | xargs head', 'ask path.unknown'],
  ['ls -l --time-style=+.e%nv | xargs head', 'ask path.unknown'],
  ["find . -maxdepth 0 -printf '\\056env' | xargs head", 'ask path.unknown'],
  ['ls list | xargs head | xargs head', 'ask path.unknown'],
])('%s: %s', (command, expected) => {
  const reading = ['git *', 'ls *', 'find *', 'grep *', 'rg *', 'sort *', 'uniq *', 'comm *'];
  const allow = [...reading, 'head *', 'xargs {head,wc,grep} *'];
  expect(said({ allow }, command)).toBe(expected);
});
