// `cuff policy` as a program: what it prints, with which exit code, and what it does with files
// that are no policy.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary, Cli, type Result } from '../helper.ts';

const cli = new Cli();
const root = mkdtempSync(join(tmpdir(), 'cuff-policy-'));
const project = join(root, 'app');
const empty = join(root, 'empty');
const home = join(root, 'home');
const policy = join(project, '.cuff', 'policy.yml');

const POLICY = `version: 1
default: ask
policies:
  - name: dev
    commands:
      - pattern: git status
      - pattern: git log *
      - pattern: cat <path>
      - pattern: git push *
        decision: deny
        reason: People push.
`;

beforeAll(() => {
  for (const directory of [join(project, '.cuff'), join(project, 'src'), empty, home]) {
    mkdirSync(directory, { recursive: true });
  }
  writeFileSync(policy, POLICY);
});

afterAll(async () => {
  await cli.close();
  rmSync(root, { recursive: true, force: true });
});

/** In a directory, as somebody with an empty home. */
function cuff(directory: string, ...args: readonly string[]): Promise<Result> {
  const command = ['env', '-C', directory, process.execPath, binary('cuff'), 'policy', ...args];
  const live = cli.start(command, { env: { HOME: home, XDG_CONFIG_HOME: '' } });
  live.child.stdin?.end();
  return live.result;
}

async function lines(directory: string, ...args: readonly string[]): Promise<readonly string[]> {
  const { out, err, code } = await cuff(directory, ...args);
  return [...`${out}${err}`.trimEnd().split('\n'), `exit ${code}`];
}

describe('cuff policy check', () => {
  it('says by which rule a command is allowed, and exits 0', async () => {
    expect(await lines(project, 'check', 'git status')).toEqual([
      'allow (rule.allow)',
      '',
      '    git status',
      '    ^^^^^^^^^^',
      '  The rule `git status` of dev allows `git status`. (rule.allow)',
      '',
      `By ${policy}`,
      'exit 0',
    ]);
  });

  it('marks the word that is in the way, and names the nearest rule, and exits 3', async () => {
    const said = await lines(project, 'check', 'git status && git log --output=/tmp/x -1');
    expect(said.slice(0, 5)).toEqual([
      'ask (argument.effect)',
      '',
      '    git status && git log --output=/tmp/x -1',
      '                          ^^^^^^^^^^^^^^^',
      expect.stringContaining('would write a file. (argument.effect)'),
    ]);
    expect(said).toContain('  The nearest rule is `git log *`.');
    expect(said.at(-1)).toBe('exit 3');
  });

  it('gives the reason of a rule that denies, and the rule, and exits 1', async () => {
    expect(await lines(project, 'check', 'git push origin main')).toEqual([
      'deny (rule.deny)',
      '',
      '    git push origin main',
      '    ^^^^^^^^^^^^^^^^^^^^',
      '  People push. (rule.deny)',
      `  The rule is \`git push *\`, in ${policy}.`,
      '',
      `By ${policy}`,
      'exit 1',
    ]);
  });

  it('shows the line of a long text, and the mark under wide and invisible letters', async () => {
    const said = await lines(project, 'check', 'git status\ncat 日本\x1b[2J; frob é');
    expect(said).toContain('    2 | cat 日本\\x1b[2J; frob é');
    expect(said).toContain(`${' '.repeat(8 + 'cat 日本日\\x1b[2J; '.length + 1)}^^^^^^`);
  });

  it('cuts a long line around the mark', async () => {
    const long = `cat ${'a'.repeat(500)} && frob ${'b'.repeat(500)}`;
    const said = await lines(project, 'check', long);
    expect(said[2]?.length).toBeLessThan(200);
    expect(said[2]).toMatch(/^ {4}…a+ && frob b+…$/);
    expect(said[3]).toMatch(/^ +\^+$/);
  });

  it('as JSON has every reason with its span, its rule and its files', async () => {
    const { out, code } = await cuff(project, 'check', 'git push; git status', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      command: 'git push; git status',
      cwd: project,
      project,
      decision: 'deny',
      code: 'rule.deny',
      mode: 'enforce',
      reasons: [
        {
          decision: 'deny',
          code: 'rule.deny',
          detail: null,
          span: { from: 0, to: 8 },
          unit: 'git push',
          message: 'People push.',
          rule: { file: policy, policy: 'dev', pattern: 'git push *' },
          nearest: null,
          hint: null,
        },
        {
          decision: 'allow',
          code: 'rule.allow',
          detail: null,
          span: { from: 10, to: 20 },
          unit: 'git status',
          message: 'The rule `git status` of dev allows `git status`.',
          rule: { file: policy, policy: 'dev', pattern: 'git status' },
          nearest: null,
          hint: null,
        },
      ],
      policies: [policy],
    });
  });

  it('finds the project above the directory, and judges paths by where it runs', async () => {
    const inside = await cuff(join(project, 'src'), 'check', 'cat ../a.txt', '--json');
    expect(JSON.parse(inside.out)).toMatchObject({ decision: 'allow', project });
    const outside = await cuff(join(project, 'src'), 'check', 'cat ../../a.txt', '--json');
    expect(JSON.parse(outside.out)).toMatchObject({ decision: 'ask', code: 'path.outside' });
    const elsewhere = await cuff(empty, 'check', 'cat a.txt', '--cwd', project, '--json');
    expect(JSON.parse(elsewhere.out)).toMatchObject({ decision: 'allow', cwd: project });
  });

  it('follows links, also to what is not there yet, and protects settings', async () => {
    expect(await lines(project, 'check', 'echo > settings.yml')).toContain('deny (path.protected)');
    symlinkSync(root, join(project, 'out'));
    const { out } = await cuff(project, 'check', 'cat out/nothing/here.txt', '--json');
    expect(JSON.parse(out)).toMatchObject({ decision: 'ask', code: 'path.outside' });
  });

  it('takes a file by name, and says what its mode would do', async () => {
    const file = join(root, 'warn.yml');
    writeFileSync(file, 'mode: warn\ndefault: deny\n');
    const said = await lines(empty, 'check', 'ls', '--policy', file);
    expect(said[0]).toBe('deny (default.deny)');
    expect(said).toContain('The mode is warn: it would run, with a warning.');
    expect(said.at(-1)).toBe('exit 1');
  });

  it('says what to do where no policy applies', async () => {
    const looked = [
      '/etc/cuff/policy.yml',
      `${home}/.config/cuff/policy.yml`,
      `${empty}/.cuff/policy.yml`,
    ];
    expect(await lines(empty, 'check', 'ls')).toEqual([
      `cuff: No policy applies here; looked for ${looked.join(', ')}.`,
      'Name one with --policy FILE, or make one with `cuff record generate`.',
      'exit 2',
    ]);
  });

  it('says where a file is no policy, one line for each problem', async () => {
    const file = join(root, 'bad.yml');
    writeFileSync(file, 'default: perhaps\npolicies:\n  - commands: 3\n');
    expect(await lines(empty, 'check', 'ls', '--policy', file)).toEqual([
      `${file}:1:10: default: must be one of allow, ask, deny`,
      `${file}:3:5: policies[0]: needs a name`,
      `${file}:3:15: policies[0].commands: must be a list`,
      'exit 2',
    ]);
    const missing = await cuff(empty, 'check', 'ls', '--policy', join(root, 'none.yml'));
    expect([missing.code, missing.err]).toEqual([
      2,
      `${join(root, 'none.yml')}:1:1: there is no such file\n`,
    ]);
  });

  it('takes a policy from a pipe', async () => {
    const check = `${process.execPath} ${binary('cuff')} policy check 'git push'`;
    const live = cli.start(['sh', '-c', `cat ${policy} | ${check} --policy /dev/stdin`]);
    expect(await live.result).toMatchObject({ code: 1, out: expect.stringContaining('rule.deny') });
  });

  it('wants a command or a batch, and not both', async () => {
    for (const args of [[], ['ls', '--batch', '-'], ['ls', 'more']]) {
      expect((await cuff(project, 'check', ...args)).code).toBe(2);
    }
  });
});

describe('cuff policy check --batch', () => {
  async function batch(text: string, ...args: readonly string[]): Promise<Result> {
    const file = join(root, 'batch.jsonl');
    writeFileSync(file, text);
    return cuff(empty, 'check', '--batch', file, '--json', ...args);
  }

  const json = ({ out }: Result): readonly unknown[] =>
    out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('answers each line in order, by its own policy', async () => {
    const cwd = '/home/user/app';
    const text = [
      { id: 'a', command: 'git status', cwd, policy: { default: 'ask', allow: ['git status'] } },
      { id: 2, command: 'rm x', cwd, policy: { default: 'allow', deny: ['rm *'] } },
      { id: 'c', command: 'cat /home/user/.config/x', cwd, policy: { allow: ['cat *'] } },
      { id: 'd', command: 'cat ../b', cwd, policy: { allow: ['cat *'], scopes: { read: ['..'] } } },
    ];
    const result = await batch(text.map((line) => JSON.stringify(line)).join('\n'));
    expect(result.code).toBe(0);
    expect(json(result)).toEqual([
      {
        id: 'a',
        decision: 'allow',
        code: 'rule.allow',
        detail: null,
        span: { from: 0, to: 10 },
        unit: 'git status',
        message: 'The rule `git status` of allow allows `git status`.',
        rule: { file: null, policy: 'allow', pattern: 'git status' },
        nearest: null,
        hint: null,
      },
      expect.objectContaining({ id: 2, decision: 'deny', code: 'rule.deny' }),
      expect.objectContaining({ id: 'c', decision: 'ask', code: 'path.outside' }),
      expect.objectContaining({ id: 'd', decision: 'allow', code: 'rule.allow' }),
    ]);
  });

  it('uses the named file where a line has no policy', async () => {
    const text = '{"id":1,"command":"git status","cwd":"/srv/x"}\n{"id":2,"command":"ls"}\n';
    const decisions = json(await batch(text, '--policy', policy)) as { decision: string }[];
    expect(decisions.map(({ decision }) => decision)).toEqual(['allow', 'ask']);
  });

  it('reports lines that are wrong, does all the others, and exits 2', async () => {
    const good = JSON.stringify({ id: 9, command: 'ls', policy: { default: 'deny' } });
    const wrong = [
      'no json',
      '{"id":"x"}',
      '{"id":"y","command":"ls","policy":3}',
      '{"id":"z","command":"ls","policy":{"allow":["git \'"]}}',
      '{"id":"w","command":"ls","policy":{"allow":"ls"}}',
      '{"id":"v","command":"ls"}',
    ];
    const result = await batch(['', ...wrong, good, ''].join('\n'));
    expect(result.code).toBe(2);
    expect(json(result)).toEqual([
      { id: null, line: 2, error: 'it is no JSON object' },
      { id: 'x', line: 3, error: 'command: must be text' },
      { id: 'y', line: 4, error: 'policy: must be an object' },
      { id: 'z', line: 5, error: expect.stringContaining("the quote ' is never closed") },
      { id: 'w', line: 6, error: 'policy.allow: must be a list of patterns' },
      { id: 'v', line: 7, error: expect.stringContaining('No policy applies here') },
      expect.objectContaining({ id: 9, decision: 'deny', code: 'default.deny' }),
    ]);
  });

  it('reads stdin, and keeps separators that JSON has and lines have not', async () => {
    const args = ['check', '--batch', '-', '--json'];
    const live = cli.start([process.execPath, binary('cuff'), 'policy', ...args]);
    const policyOf = { default: 'ask', allow: ['echo *'] };
    live.child.stdin?.end(
      JSON.stringify({ id: '\u2028', command: 'echo \u2028', policy: policyOf }),
    );
    const { out, code } = await live.result;
    expect([JSON.parse(out), code]).toEqual([
      expect.objectContaining({ id: '\u2028', decision: 'allow' }),
      0,
    ]);
  });
});

describe('cuff policy lint', () => {
  it('says of each file what is odd, and exits 0, or 1 with --strict', async () => {
    const file = join(root, 'odd.yml');
    writeFileSync(file, 'policies:\n  - name: a\n    commands:\n      - pattern: rm *\n');
    const message = 'This deletes, so `*` means ask.';
    const hint = 'Name the arguments in the rule, or use a typed hole like <path>.';
    const line = `${file}:4:9: warning: ${message} ${hint} (star.destructive)`;
    expect(await lines(empty, 'lint', file)).toEqual([line, 'exit 0']);
    expect(await lines(empty, 'lint', '--strict', file)).toEqual([line, 'exit 1']);
    const { out } = await cuff(empty, 'lint', '--json', file, policy);
    expect(JSON.parse(out)).toEqual({
      files: [
        {
          file,
          valid: true,
          problems: [],
          warnings: [
            {
              line: 4,
              column: 9,
              code: 'star.destructive',
              message,
              hint,
            },
          ],
        },
        { file: policy, valid: true, problems: [], warnings: [] },
      ],
    });
  });

  it('looks at the files that apply when none is named', async () => {
    expect(await lines(project, 'lint', '--strict')).toEqual([
      `${policy}: nothing to say.`,
      'exit 0',
    ]);
    expect((await cuff(empty, 'lint')).code).toBe(2);
  });

  it('exits 1 for a file that is no policy, and 2 for one that cannot be read', async () => {
    const file = join(root, 'wrong.yml');
    writeFileSync(file, 'polices: []\n');
    expect(await lines(empty, 'lint', file)).toEqual([
      `${file}:1:1: error: unknown key 'polices'; did you mean 'policies'?`,
      'exit 1',
    ]);
    expect(await lines(empty, 'lint', join(root, 'none.yml'))).toEqual([
      `cuff: ${join(root, 'none.yml')} cannot be read: ENOENT.`,
      'exit 2',
    ]);
  });
});

describe('cuff policy export', () => {
  it('with --loose prints all rules on stdout, and what gets lost on stderr', async () => {
    const { out, err, code } = await cuff(project, 'export', '--to', 'claude', '--loose');
    expect(code).toBe(0);
    expect(JSON.parse(out).permissions).toEqual({
      allow: ['Bash(git status)', 'Bash(git log:*)', 'Bash(cat *)'],
      ask: [],
      deny: ['Bash(git push:*)'],
    });
    const star = '`*` covers every argument there, here only those that change nothing';
    expect(err.split('\n')[0]).toBe(`cuff: 1 rule lets more through: ${star}: git log *`);
  });

  it('leaves out what would allow more', async () => {
    const { out } = await cuff(project, 'export', '--to', 'opencode', policy);
    expect(JSON.parse(out).permission.bash).toEqual({
      '*': 'ask',
      'git status': 'allow',
      'git push *': 'deny',
    });
  });

  it('leaves out what a project allows where the user denies all else', async () => {
    const config = join(home, '.config', 'cuff');
    mkdirSync(config, { recursive: true });
    const user = join(config, 'policy.yml');
    writeFileSync(user, 'default: deny\npolicies: [{name: u, commands: [{pattern: git diff}]}]\n');
    const { out } = await cuff(project, 'export', '--to', 'opencode');
    rmSync(user);
    expect(JSON.parse(out).permission.bash).toEqual({
      '*': 'deny',
      'git diff': 'allow',
      'git push *': 'deny',
    });
  });

  it('knows four tools', async () => {
    for (const to of ['claude', 'codex', 'opencode', 'gemini']) {
      expect((await cuff(project, 'export', '--to', to)).code).toBe(0);
    }
    expect(await lines(project, 'export', '--to', 'vim')).toEqual([
      "cuff: There is no export to 'vim'.",
      'There is one to claude, codex, opencode, gemini.',
      'exit 2',
    ]);
  });
});
