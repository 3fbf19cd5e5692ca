// The policy's word on commands of an agent's own shell: the command is judged, not the wrapper.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Intent, writeIntent } from '../../../src/hooks/intent.ts';
import { Approvals } from '../../../src/policies/approvals.ts';
import { contentId } from '../../../src/policies/decide.ts';
import { openPolicy } from '../../../src/policies/engine.ts';
import { CUFF, codexText, SHAPES, type Shape, World } from './world.ts';

const world = new World();
afterAll(() => world.close());

const { claude, codex, pi, qwen } = SHAPES;
/** What its model gets with `login: false`. */
const codexPlain: Shape = { ...codex, argv: (command) => ['/bin/bash', '-c', command] };

describe('policy', () => {
  const POLICY = `version: 1
mode: enforce
default: allow
policies:
  - name: rules
    commands:
      - { pattern: "rm *", decision: deny, reason: "not here" }
      - { pattern: "touch *", decision: ask }
`;

  function ruled(): string {
    const cwd = world.project();
    mkdirSync(join(cwd, '.cuff'));
    writeFileSync(join(cwd, '.cuff', 'policy.yml'), POLICY);
    return cwd;
  }

  it('judges the command and not the wrapper; a denied one does not run', async () => {
    const cwd = ruled();
    writeFileSync(join(cwd, 'kept'), '');
    const denied = await world.call(claude, 'rm kept', cwd);
    expect(denied).toMatchObject({ code: 126 });
    expect(denied.out).toMatch(/^cuff policy: denied \(rule\.deny\)[\s\S]*not here/);
    expect(readdirSync(cwd)).toContain('kept');
    expect(await world.call(claude, 'echo fine', cwd)).toMatchObject({ code: 0, out: 'fine\n' });
    expect(world.entries(cwd)).toMatchObject([
      { command: 'rm kept', end_reason: 'denied', decision: { verdict: 'deny', rule: 'rm *' } },
      { command: 'echo fine', decision: { verdict: 'allow' }, exit_code: 0 },
    ]);
  });

  it.each([
    ["a wrapper like Claude's", qwen, "rm kept && eval 'echo ok' && pwd -P >| /dev/null"],
    ["a snapshot like Claude's", qwen, 'SNAPSHOT_FILE=x; rm kept'],
    ["a snapshot like Codex'", qwen, '__CODEX_SNAPSHOT_1=x; rm kept'],
    ["a wrapper like Codex', as a login shell", codex, '__CODEX_SNAPSHOT_1=x; rm kept'],
    ["a wrapper like Codex', without a login shell", codexPlain, '__CODEX_SNAPSHOT_1=x; rm kept'],
    [
      "Codex' own with more in it",
      codexPlain,
      codexText('echo ok').replace('\n\n', '\nrm kept\n\n'),
    ],
    ["one inside of Codex' own", SHAPES['codex with a snapshot'], '__CODEX_SNAPSHOT_1=x; rm kept'],
  ])('judges the whole of a command that looks like %s', async (_, shape, command) => {
    const cwd = ruled();
    writeFileSync(join(cwd, 'kept'), '');
    expect(await world.call(shape, command, cwd)).toMatchObject({ code: 126 });
    expect(readdirSync(cwd)).toContain('kept');
    expect(world.entries(cwd)).toMatchObject([{ command, end_reason: 'denied' }]);
  });

  it("judges the command in Codex' own wrapper, for any shell that it names", async () => {
    const cwd = ruled();
    writeFileSync(join(cwd, 'kept'), '');
    for (const shell of ['/bin/bash', '/bin/sh']) {
      const text = (command: string) => codexText(command).replace('/bin/bash', shell);
      expect(await world.call(codexPlain, text('rm kept'), cwd)).toMatchObject({ code: 126 });
      expect(await world.call(codexPlain, text('echo ok'), cwd)).toMatchObject({ out: 'ok\n' });
    }
    expect(readdirSync(cwd)).toContain('kept');
    const said = world.entries(cwd).map(({ command, end_reason }) => [command, end_reason]);
    const both = [
      ['rm kept', 'denied'],
      ['echo ok', 'itself'],
    ];
    expect(said).toEqual([...both, ...both]);
    expect(world.entries(cwd)[1]).not.toHaveProperty('shell_text');
  });

  it.each([
    ['-c', '-'],
    ['-rcfile', '/dev/null', '-c'],
  ])('judges the command behind %s %s', async (...options) => {
    const cwd = ruled();
    writeFileSync(join(cwd, 'kept'), '');
    const argv = [world.files.bash, ...options, 'rm kept'];
    const { outcome } = world.run({ cwd, argv, env: { ...world.env, ...pi.env } });
    expect((await outcome).code).toBe(126);
    expect(readdirSync(cwd)).toContain('kept');
  });

  it('judges what runs in a directory that was removed, and leaves it there', async () => {
    const cwd = ruled();
    const inGone = (shell: string, command: string) => {
      mkdirSync(join(cwd, 'gone'));
      const argv = ['/bin/bash', '-c', `cd gone && rmdir ../gone && exec ${shell} -c '${command}'`];
      return world.run({ cwd, argv, env: { ...world.env, ...pi.env } }).outcome;
    };
    const { bash } = world.files;
    expect((await inGone(bash, 'rm ../kept')).code).toBe(126);
    const bare = await inGone('/bin/bash', 'ls; ls ..; pwd');
    expect(await inGone(bash, 'ls; ls ..; pwd')).toEqual(bare);
    expect(world.entries(cwd)).toMatchObject([{ end_reason: 'denied' }, { exit_code: bare.code }]);
  });

  it('lets git take no directory for a repository by its content', async () => {
    const cwd = ruled();
    const text = [
      "mkdir -p made/objects made/refs; printf 'ref: refs/heads/main\\n' > made/HEAD",
      "printf '[core]\\nrepositoryformatversion = 0\\n' > made/config; cd made && git status",
    ].join('\n');
    const { out, code } = await world.call(claude, text, cwd);
    expect(out).toContain('cannot use bare repository');
    expect(code).toBe(128);
  });

  it('refuses what a person has to be asked about, and runs it once approved', async () => {
    const cwd = ruled();
    const asked = await world.call(codex, 'touch made', cwd);
    expect(asked.code).toBe(126);
    const id = /cuff policy approve (\w{8})/.exec(asked.err)?.[1] ?? '';
    expect(readdirSync(cwd)).not.toContain('made');
    const approvals = new Approvals(world.root);
    const question = approvals.find(id);
    if (question !== undefined) approvals.grant(question); // what `cuff policy approve` does
    expect(await world.call(codex, 'touch made', cwd)).toMatchObject({ code: 0 });
    expect(readdirSync(cwd)).toContain('made');
    expect((await world.call(codex, 'touch made', cwd)).code).toBe(126);
    const said = world.entries(cwd).map(({ decision }) => [decision?.verdict, decision?.approved]);
    expect(said).toEqual([
      ['ask', null],
      ['ask', 'grant'],
      ['ask', null],
    ]);
  });

  describe('the yes that an agent got from its person', () => {
    async function policyOf(project: string): Promise<string> {
      const { env, root: stateRoot } = world;
      const engine = await openPolicy({ project, env, stateRoot, watch: false });
      engine.close();
      return contentId(engine.policies);
    }

    async function answered(cwd: string, change: Partial<Intent> = {}): Promise<Intent> {
      const policy = await policyOf(cwd);
      const said = { rule: null, reason: '', approval_id: null, policy };
      return {
        ...{ agent: 'claude', session: 'c-1', tool_call: 't-1', command: 'touch made' },
        ...{ description: null, cwd, permission_mode: 'default' },
        decision: { action: 'ask', ...said },
        at: Date.now(),
        ...change,
      };
    }

    it('counts once, also after nine minutes, and the entry says so', async () => {
      const cwd = ruled();
      writeIntent(world.env, await answered(cwd, { at: Date.now() - 540_000 }));
      expect((await world.call(claude, 'touch made', cwd)).code).toBe(0);
      expect((await world.call(claude, 'touch made', cwd)).code).toBe(126);
      const said = world.entries(cwd).map(({ decision }) => decision?.approved);
      expect(said).toEqual(['elicitation', null]);
    });

    it.each<[string, Partial<Intent>]>([
      ['is older than ten minutes', { at: Date.now() - 601_000 }],
      ['was given in another session', { session: 'c-2' }],
      ['was given to another agent', { agent: 'codex' }],
      ['was given in a mode that no test proved', { permission_mode: 'auto' }],
      ['was given in no known mode', { permission_mode: null }],
      ['is about another command', { command: 'touch other' }],
    ])('does not count if it %s: the command is judged again', async (_, change) => {
      const cwd = ruled();
      writeIntent(world.env, await answered(cwd, change));
      await expectRefused(cwd);
    });

    it('does not count under another policy, nor for what that denies', async () => {
      const cwd = ruled();
      const intent = await answered(cwd);
      writeFileSync(join(cwd, '.cuff', 'policy.yml'), `${POLICY}# another\n      - pattern: ls\n`);
      writeIntent(world.env, intent);
      await expectRefused(cwd);
      writeFileSync(join(cwd, '.cuff', 'policy.yml'), POLICY.replace('ask }', 'deny }'));
      writeIntent(world.env, { ...intent, tool_call: 't-2' });
      const denied = await world.call(claude, 'touch made', cwd);
      expect([denied.code, readdirSync(cwd).includes('made')]).toEqual([126, false]);
    });

    async function expectRefused(cwd: string): Promise<void> {
      const { code, out } = await world.call(claude, 'touch made', cwd);
      expect([code, out]).toEqual([126, expect.stringMatching(/cuff policy approve \w{8}/)]);
      expect(readdirSync(cwd)).not.toContain('made');
    }
  });

  it('runs what is only asked about where the user, and no project, says so', async () => {
    const lax = `${POLICY}on_ask: allow_recorded\n`;
    const cwd = ruled();
    writeFileSync(join(cwd, '.cuff', 'policy.yml'), lax);
    expect((await world.call(pi, 'touch made', cwd)).code).toBe(126);
    const config = join(world.env.HOME ?? '', '.config', 'cuff');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'policy.yml'), lax);
    try {
      expect((await world.call(pi, 'touch made', cwd)).code).toBe(0);
      expect((await world.call(pi, 'rm made', cwd)).code).toBe(126);
    } finally {
      rmSync(config, { recursive: true });
    }
    expect(world.entries(cwd)[1]?.decision).toMatchObject({ verdict: 'ask', approved: null });
  });

  it('runs nothing where the policy cannot be read', async () => {
    const cwd = ruled();
    writeFileSync(join(cwd, '.cuff', 'policy.yml'), 'default: [');
    expect(await world.call(pi, 'echo no', cwd)).toMatchObject({ code: 126, out: '' });
  });
});

it('a command that a hook has rewritten runs as it was, with the ids of the hook', async () => {
  const cwd = world.project();
  const command = 'echo fine; exit 3';
  const ids = { agent: 'cline', session: 'task', tool_call: 'call' } as const;
  const more = { description: null, cwd, permission_mode: null, decision: null, at: Date.now() };
  const name = writeIntent(world.env, { ...ids, command, ...more });
  const argv = [process.execPath, CUFF, 'sh', '--intent', String(name), '-c', command];
  const { outcome } = world.run({ cwd, argv, env: world.env });
  expect(await outcome).toMatchObject({ code: 3, out: 'fine\n' });
  const entry = { agent_id: 'cline', conversation_id: 'task', tool_call_id: 'call', exit_code: 3 };
  expect(world.entries(cwd)).toMatchObject([{ command, ...entry }]);
});
