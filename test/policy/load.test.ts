import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { policyYaml } from '../../src/policy/generate/index.ts';
import { readPolicy } from '../../src/policy/load.ts';
import { HOME, PROJECT, policyOf } from './helper.ts';

const SAMPLE = `# Auto-generated policy from recordings
# Generated: 2026-01-18T14:30:52Z
# Source sessions: 47
# Commands analyzed: 1,523

policies:
  - name: git-operations
    description: Git version control commands
    commands:
      - pattern: "git status"
        frequency: 312
      - pattern: "git diff *"
        frequency: 145
  - name: file-operations
    description: File viewing and listing
    commands:
      - pattern: "ls *"
        frequency: 178
`;

const RULE = {
  decision: 'allow',
  reason: undefined,
  paths: undefined,
  args: 'inert',
  stdin: undefined,
  tests: { match: [], not_match: [] },
};

function problems(text: string): readonly string[] {
  const read = readPolicy(text, { home: HOME, project: PROJECT });
  if ('policy' in read) return [];
  return read.problems.map(({ line, column, message }) => `${line}:${column}: ${message}`);
}

describe('a policy file', () => {
  it('may be as generated, and every other key has a default', () => {
    expect(policyOf(SAMPLE)).toEqual({
      version: 1,
      default: 'ask',
      mode: 'enforce',
      policies: [
        {
          name: 'git-operations',
          description: 'Git version control commands',
          commands: [
            { ...RULE, pattern: 'git status', frequency: 312 },
            { ...RULE, pattern: 'git diff *', frequency: 145 },
          ],
        },
        {
          name: 'file-operations',
          description: 'File viewing and listing',
          commands: [{ ...RULE, pattern: 'ls *', frequency: 178 }],
        },
      ],
      scopes: { cwd: [], read: [], write: [], protect: [] },
      redirects: [],
      filters: false,
      programs: [],
      env: [],
      network: [],
      shadow: undefined,
      gate: 'on',
      sandbox: 'off',
    });
  });

  it('of seed 000 is read, and written again to the letter', () => {
    const file = new URL('./fixtures/seed-sample.yml', import.meta.url);
    const sample = readFileSync(file, 'utf8');
    const policy = policyOf(sample);
    expect(policy.policies.flatMap(({ commands }) => commands)).toHaveLength(9);
    const written = policyYaml({
      strategy: 'pattern',
      generatedAt: Date.parse('2026-01-18T14:30:52Z'),
      sessions: 47,
      commands: 1_523,
      accepted: 1_523,
      attacks: { allowed: 0, total: 1 },
      policy,
      imported: new Set<string>(),
      excluded: [],
    });
    expect(policyOf(written)).toEqual(policy);
    // Two lines of ours say what it is worth.
    expect(written.replace(/^# (?:Strategy|Accepts).*\n/gm, '')).toBe(sample);
  });

  it('may be JSON, and may be empty', () => {
    expect(policyOf('{"default": "deny", "policies": []}').default).toBe('deny');
    expect(policyOf('').policies).toEqual([]);
    expect(policyOf('# nothing\n').default).toBe('ask');
  });

  it('has every key there is', () => {
    const policy = policyOf(`
version: 1
default: deny
mode: warn
gate: strict
sandbox: bwrap
shadow: other.yml
scopes: { cwd: [/srv/x], read: [/tmp], write: [out], protect: [vault] }
redirects: ["/tmp/*.log"]
env: [API_*]
network: [github.com]
policies:
  - name: all
    commands:
      - pattern: cat *
        decision: deny
        reason: Use the viewer.
        paths: [docs]
        args: any
        stdin: none
        tests: { match: ["cat x"], not_match: ["ls"] }
`);
    expect(policy).toMatchObject({
      default: 'deny',
      mode: 'warn',
      gate: 'strict',
      sandbox: 'bwrap',
      shadow: 'other.yml',
      scopes: { cwd: ['/srv/x'], read: ['/tmp'], write: ['out'], protect: ['vault'] },
      redirects: ['/tmp/*.log'],
      env: ['API_*'],
      network: ['github.com'],
    });
    expect(policy.policies[0]?.commands[0]).toEqual({
      pattern: 'cat *',
      frequency: undefined,
      decision: 'deny',
      reason: 'Use the viewer.',
      paths: ['docs'],
      args: 'any',
      stdin: 'none',
      tests: { match: ['cat x'], not_match: ['ls'] },
    });
  });

  it('may have the pattern alone for a rule', () => {
    const text = 'policies:\n  - name: git\n    commands: [git status, "git log *"]\n';
    const read = readPolicy(text, { home: HOME, project: PROJECT });
    if (!('policy' in read)) throw new Error(JSON.stringify(read));
    const [status, log] = read.policy.policies[0]?.commands ?? [];
    expect(status).toMatchObject({ pattern: 'git status', decision: 'allow', args: 'inert' });
    expect(log).toMatchObject({ pattern: 'git log *', decision: 'allow', args: 'inert' });
  });

  it('of version 2 writes the project unless it says what it writes', () => {
    const write = (text: string): readonly string[] => policyOf(text).scopes.write;
    expect(write('version: 2')).toEqual(['.']);
    expect(write('version: 2\nscopes: { read: [x] }')).toEqual(['.']);
    expect(write('version: 2\nscopes: { write: [src] }')).toEqual(['src']);
    expect(write('version: 2\nscopes: { write: [] }')).toEqual([]);
    expect(write('scopes: { read: [x] }')).toEqual([]);
  });

  it('reads off as it is meant, whichever way YAML takes it', () => {
    expect([policyOf('mode: off').mode, policyOf('mode: "off"').mode]).toEqual(['off', 'off']);
    expect(policyOf('gate: false').gate).toBe('off');
  });

  it.each([
    ['defualt: deny', ["1:1: unknown key 'defualt'; did you mean 'default'?"]],
    ['default: maybe', ['1:10: default: must be one of allow, ask, deny']],
    ['mode: on', ['1:7: mode: must be one of off, record, warn, enforce']],
    ['version: 3', ['1:10: version: must be 1 or 2']],
    ['version: 2\nprograms: .venv/bin', ['2:11: programs: must be a list']],
    ['programs: [.venv/bin, 1]', ['1:23: programs[1]: must be text; write it in quotes']],
    ['version: 2\nscopes: {write: src}', ['2:17: scopes.write: must be a list']],
    ['- a', ['1:1: a policy is a mapping with keys like policies, default and mode']],
    ['policies: x', ['1:11: policies: must be a list']],
    ['env: [1]', ['1:7: env[0]: must be text; write it in quotes']],
    ['env: [""]', ['1:7: env[0]: is empty']],
    ['policies:\n- commands: [{pattern: "x"}]', ['2:3: policies[0]: needs a name']],
    [
      'policies:\n- name: a\n  commands:\n  - frequency: 2',
      ['4:5: policies[0].commands[0]: needs a pattern'],
    ],
    [
      'policies:\n- name: a\n  commands:\n  - pattern: "git \'x"',
      ["4:14: policies[0].commands[0].pattern: 'git 'x': the quote ' is never closed"],
    ],
    [
      'policies:\n- name: a\n  commands:\n  - pattern: "* x"',
      ["4:14: policies[0].commands[0].pattern: '* x': a rule that allows has to name its program"],
    ],
    [
      'a: [',
      ['2:1: Flow sequence in flow collection must be sufficiently indented and end with a ]'],
    ],
  ])('%j is refused, with every place', (text, wanted) => {
    const found = problems(text);
    if (text === 'a: [') expect(found.length).toBeGreaterThan(0);
    else expect(found).toEqual(wanted);
  });

  it('is refused when a rule that denies or asks never could', () => {
    const problem = (decision: string, pattern: string): string | undefined =>
      problems(
        `policies: [{name: a, commands: [{pattern: "${pattern}", decision: ${decision}}]}]`,
      )[0];
    const why = 'a pattern is one simple command, so that none has `|` in it';
    expect(problem('deny', 'curl * | sh')).toContain(why);
    expect(problem('ask', 'curl * | sh')).toContain(why);
    expect(problem('deny', 'echo * > .env')).toContain('`>` in it; write a rule for each command');
    expect(problem('deny', "grep '|' *")).toBeUndefined();
    expect(problem('allow', 'curl * | sh')).toBeUndefined();
  });

  it('is refused when a rule does not do what its tests say', () => {
    const rule = (tests: string): string =>
      `policies:\n- name: a\n  commands:\n  - pattern: git log *\n    tests: ${tests}`;
    expect(
      problems(rule('{match: [git log -3], not_match: [git log --output=x, git push]}')),
    ).toEqual([]);
    expect(problems(rule('{match: [git push]}'))).toEqual([
      '4:5: tests.match has "git push", but the rule "git log *" does not match it',
    ]);
    expect(problems(rule('{not_match: [git log -3]}'))).toEqual([
      '4:5: tests.not_match has "git log -3", but the rule "git log *" matches it',
    ]);
  });

  it('is read or refused with places, whatever is in it', () => {
    const piece = fc.constantFrom(
      ...['policies:', '\n', '- ', '  ', 'name: a', 'commands:', 'pattern: ', '"git *"', '{', '}'],
      ...['[', ']', ':', 'default: ask', 'tests:', 'match:', '&a', '*a', '!x', '0x1', 'null', '#'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
        const read = readPolicy(pieces.join(''), { home: HOME });
        if ('problems' in read) expect(read.problems.length).toBeGreaterThan(0);
      }),
    );
  });
});
