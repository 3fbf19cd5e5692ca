// What is protected whatever the rules say: here nothing else is in the way.
import { expect, it } from 'vitest';
import writes from './fixtures/protected-writes.json' with { type: 'json' };
import { judgement, PROJECT, said } from './helper.ts';

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

const STEERING = [
  ...['CLAUDE.md', 'AGENTS.md', 'GEMINI.md', '.cursorrules', '.windsurfrules', '.clinerules'],
  ...['.github/copilot-instructions.md', 'mcp.json', '.github/workflows/ci.yml', '.gitlab-ci.yml'],
  'sub/CLAUDE.md',
];

it.each(STEERING)('%s is asked about, by a command as by a file tool', (path) => {
  for (const by of ['allow', 'ask', 'deny'] as const) {
    const court = judgement({ default: by, allow: ['cp *', 'tee *', 'sed *', 'echo *', 'rm *'] });
    const written = court.decideWrite(path, PROJECT).verdict;
    expect(written).toBe(by === 'deny' ? 'deny' : 'ask');
    for (const command of [
      ...[`echo x > ${path}`, `echo x >> ${path}`, `echo x | tee ${path}`, `cp x ${path}`],
      ...[`sed -i s/a/b/ ${path}`, `rm ${path}`, `cp x/${path} ${path.replace(/[^/]*$/, './')}`],
    ]) {
      expect([command, court.decide(command, PROJECT).verdict]).toEqual([command, written]);
    }
  }
});

it.each(STEERING)('%s is written without a question where a policy lists it', (path) => {
  const court = judgement({ default: 'allow', more: `redirects: ["${path}"]` });
  expect(court.decideWrite(path, PROJECT).verdict).toBe('allow');
  expect(court.decide(`echo x > ${path}`, PROJECT).verdict).toBe('allow');
  expect(court.decide(`cp x ${path}`, PROJECT).verdict).toBe('allow');
});

it.each([
  ['cat CLAUDE.md', 'allow'],
  ['git add .github/workflows CLAUDE.md', 'allow'],
  ['grep -rn x .github/workflows', 'allow'],
  ['cp CLAUDE.md CLAUDE.md.bak', 'allow'],
  ['cp CLAUDE.md /tmp/x', 'allow'],
  ['sed -i s/a/b/ *.md', 'allow'],
  ['sed -i s/a/b/ CLAUDE*', 'ask path.protected'],
  ['git checkout -- AGENTS.md', 'ask path.protected'],
  ['curl -o mcp.json https://a.example/b', 'ask path.protected'],
])('%s: %s', (command, expected) => {
  expect(said({ default: 'allow' }, command)).toBe(expected);
});

it.each(writes)('%s is asked about or denied where all else may run', (command) => {
  expect(said({ default: 'allow' }, command)).not.toBe('allow');
});
