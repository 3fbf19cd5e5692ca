// Rules for other tools: what is written, what is said about it, and that nothing gets looser
// without a word.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge } from '../../src/policy/decide.ts';
import { exportPolicy, lossLine, TARGETS, type Target } from '../../src/policy/export/index.ts';
import { HOME, PROJECT, policyOf, policyText } from './helper.ts';

const RULES = {
  allow: ['git status', 'git log *', 'git show <rev>', "git commit -m 'it works'"],
  ask: ['npm publish'],
  deny: ['git push *', 'rm -rf'],
};

function exported(to: Target, text: string, loose = true) {
  const { text: written, losses } = exportPolicy(policyOf(text), to, { loose });
  return { written, lines: losses.map(lossLine) };
}

const GATE = 'gate: on: has no equal there: processes are not judged, so that more gets through';
const ALWAYS =
  'what cuff protects always (secrets, start-up files, configuration) is not in the rules';
const STAR = '`*` covers every argument there, here only those that change nothing';
const STRICT = 'what denies or asks meets only words in this order and spelling there';

describe('an export', () => {
  it('to Claude Code is exact where ours is, and a prefix where there is a star', () => {
    const { written, lines } = exported('claude', policyText(RULES));
    expect(JSON.parse(written)).toEqual({
      permissions: {
        allow: [
          'Bash(git status)',
          'Bash(git log:*)',
          'Bash(git show *)',
          "Bash(git commit -m 'it works')",
        ],
        ask: ['Bash(npm publish:*)'],
        deny: ['Bash(git push:*)', 'Bash(rm -rf:*)'],
      },
    });
    expect(lines).toEqual([
      `1 rule lets more through: ${STAR}: git log *`,
      '1 rule lets more through: what a hole covers is not checked there: git show <rev>',
      `3 rules let more through: ${STRICT}: npm publish, git push *, rm -rf`,
      GATE,
      ALWAYS,
    ]);
  });

  it('to OpenCode puts the default first and what denies last', () => {
    const { written } = exported('opencode', policyText({ ...RULES, default: 'deny' }));
    expect(Object.entries(JSON.parse(written).permission.bash)).toEqual([
      ['*', 'deny'],
      ['git status', 'allow'],
      ['git log *', 'allow'],
      ['git show *', 'allow'],
      ["git commit -m 'it works'", 'allow'],
      ['npm publish *', 'ask'],
      ['git push *', 'deny'],
      ['rm -rf *', 'deny'],
    ]);
  });

  it('to Gemini CLI ends an exact command with its quote, and ranks what is strict higher', () => {
    const { written } = exported('gemini', policyText(RULES));
    const rules = written
      .split('[[rule]]\n')
      .slice(1)
      .map((block) => block.trim().split('\n').slice(1));
    const of = (condition: string, decision: string, priority: number) => [
      condition,
      `decision = "${decision}"`,
      `priority = ${priority}`,
    ];
    expect(rules).toEqual([
      of('commandRegex = "git status\\""', 'allow', 100),
      of('commandPrefix = "git log"', 'allow', 100),
      of('commandRegex = "git show [\\\\w@%+=:,./^~][\\\\w@%+=:,./^~-]*\\""', 'allow', 100),
      of('commandRegex = "git commit \\\\-m \'it works\'\\""', 'allow', 100),
      of('commandPrefix = "npm publish"', 'ask_user', 200),
      of('commandPrefix = "git push"', 'deny', 300),
      of('commandPrefix = "rm -rf"', 'deny', 300),
      ['decision = "ask_user"', 'priority = 1'],
    ]);
  });

  it('to Codex says that more words may follow, and passes on the examples that hold there', () => {
    const text = `policies:
  - name: dev
    commands:
      - pattern: git log *
        reason: Reading is fine.
        tests: {match: [git log -1, "git log; git log"], not_match: [git push, git log --output=x]}
      - pattern: git push
        decision: deny
`;
    const { written, lines } = exported('codex', text);
    expect(lines).toEqual([
      `1 rule lets more through: ${STAR}: git log *`,
      `1 rule lets more through: ${STRICT}: git push`,
      GATE,
      ALWAYS,
    ]);
    expect(
      written,
    ).toBe(`# Written by \`cuff policy export --to codex\`. What it cannot say as cuff does:
${lines.map((line) => `#   ${line}\n`).join('')}
prefix_rule(
    pattern = ["git", "log"],
    decision = "allow",
    justification = "Reading is fine.",
    match = [["git", "log", "-1"]],
    not_match = [["git", "push"]],
)

prefix_rule(
    pattern = ["git", "push"],
    decision = "forbidden",
)
`);
  });

  it('to Codex leaves out what would lose the words behind a hole', () => {
    const { written, lines } = exported('codex', policyText({ allow: ['git -C <path> log *'] }));
    expect(written.replace(/^#.*/gm, '')).not.toContain('git');
    expect(lines[0]).toBe('1 rule left out: cannot be written there: git -C <path> log *');
  });

  it('never turns a star that means ask into an allowed prefix', () => {
    for (const to of TARGETS) {
      const { written, lines } = exported(to, policyText({ allow: ['rm *', 'frobnicate *'] }));
      expect(written.replace(/^#.*/gm, '')).not.toMatch(/\brm\b|frobnicate/);
      expect(lines[0]).toBe(
        '2 rules left out: `*` means ask here, so that it allows nothing: rm *, frobnicate *',
      );
    }
  });

  it('leaves out every rule that would allow more, and says which', () => {
    const { written, lines } = exported('claude', policyText(RULES), false);
    expect(JSON.parse(written).permissions.allow).toEqual([
      'Bash(git status)',
      "Bash(git commit -m 'it works')",
    ]);
    expect(lines.slice(0, 2)).toEqual([
      `1 rule left out: ${STAR}: git log *`,
      '1 rule left out: what a hole covers is not checked there: git show <rev>',
    ]);
    const codex = exported('codex', policyText(RULES), false);
    expect(codex.written).not.toContain('"allow"');
    const rules = "git status, git show <rev>, git commit -m 'it works'";
    expect(codex.lines[0]).toBe(`3 rules left out: more words may follow there: ${rules}`);
  });

  it('keeps a star on purpose: `args: any` covers everything here, too', () => {
    const text = 'policies: [{name: a, commands: [{pattern: "npm run *", args: any}]}]';
    const { written, lines } = exported('claude', text, false);
    expect(JSON.parse(written).permissions.allow).toEqual(['Bash(npm run:*)']);
    expect(lines).toEqual([GATE, ALWAYS]);
  });

  it('says what of the policy around its rules gets lost', () => {
    const text = `default: allow
mode: warn
gate: "off"
sandbox: bwrap
shadow: other.yml
scopes: {read: [/usr/share], protect: [notes]}
redirects: [out.txt]
env: [A, B, C, D, E, F]
network: [example.org]
policies:
  - name: a
    commands:
      - {pattern: cat <path>, paths: [docs], stdin: none, reason: why, tests: {match: [cat docs/a]}}
`;
    expect(exported('claude', text).lines).toEqual([
      '1 rule lets more through: what a hole covers is not checked there: cat <path>',
      '1 rule lets more through: `paths` has no equal there: cat <path>',
      '1 rule lets more through: `stdin: none` has no equal there: cat <path>',
      '1 rule: `reason` is not passed on: cat <path>',
      '1 rule: `tests` are not passed on: cat <path>',
      'default: allow: what is protected here is not there, so that more gets through',
      'read: /usr/share, protect: notes: has no equal there, so that more gets through',
      'out.txt: has no equal there',
      'A, B, C, D, E and 1 more: has no equal there',
      'example.org: has no equal there',
      'mode: warn: has no equal there: what is exported is enforced',
      'sandbox: bwrap: has no equal there, so that more gets through',
      'shadow: other.yml: has no equal there',
      ALWAYS,
    ]);
  });

  it('says which rules that deny cannot be written', () => {
    const text = policyText({ deny: ['* --force', "echo 'a(b)'"] });
    expect(exported('codex', text).lines).toContain(
      '1 rule left out, so that more gets through: cannot be written there: * --force',
    );
    expect(exported('claude', text).lines).toContain(
      "1 rule left out, so that more gets through: cannot be written there: echo 'a(b)'",
    );
  });

  it('allows no text that the policy itself would not allow', () => {
    const word = fc.constantFrom(
      ...['git', 'npm', 'cat', 'ls', 'rm', 'frob', 'status', 'log', '-n', 'a.txt', 'x y', "it's"],
      ...['*', '<path>', '<int>', '{a,b}', '[-v]', '--out=*', '"a;b"', "'$(x)'"],
    );
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const source = words.map((one) => (/^(x y|it's)$/.test(one) ? `"${one}"` : one)).join(' ');
        const program = /^(?:git|npm|cat|ls|rm|frob)( |$)/.test(source);
        fc.pre(program);
        const policy = policyOf(policyText({ allow: [source] }));
        const judgement = judge({
          policies: [{ policy, origin: 'user', file: undefined }],
          project: PROJECT,
          home: HOME,
        });
        const { text } = exportPolicy(policy, 'claude', { loose: false });
        for (const rule of JSON.parse(text).permissions.allow) {
          const command = /^Bash\((.*)\)$/s.exec(rule)?.[1] ?? '';
          expect([command, judgement.decide(command, PROJECT).verdict]).toEqual([command, 'allow']);
        }
      }),
      { numRuns: 150 },
    );
  });
});
