// A policy over MCP where the text of a command does not tell what it runs: its programs are judged
// when they start, by the policy that is in force then; and a sandbox that somebody asked for.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkSandbox } from '../../src/guard/sandbox.ts';
import { until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';
import type { TestClient } from './clients.ts';
import { answers, clientNamed, freePort, Guarded, METRICS, run } from './policy-life.ts';

const noTrace = lacking(untraceable, 'runs cannot be traced here');
const check = checkSandbox();
if (!check.ok) process.stderr.write(`no sandbox here: ${check.reason}\n`);
const noSandbox = lacking(
  !check.ok || untraceable,
  'bubblewrap is not there, or may not do what it must; or there is no tracing',
);

const denying = (pattern: string, more = ''): string =>
  `default: allow\n${more}policies:\n  - name: keep\n    commands:\n` +
  `      - { pattern: ${JSON.stringify(pattern)}, decision: deny, reason: files stay }\n`;

const BY_BASE64 = 'echo cm0gLXJmIHY= | base64 -d | sh';
const BY_PYTHON = `python3 -c 'import os; os.system("r" + "m -rf v")'`;
const BASH_BY_PYTHON = `python3 -c 'import os; os.system("ba" + "sh -c ls")'`;
const DENIED = /^cuff: policy: .*`rm \*`.*files stay/m;

async function served(life: Guarded, ...args: readonly string[]): Promise<TestClient> {
  mkdirSync(join(life.project, 'v'));
  return life.connect(clientNamed('SDK v1'), 'cuff', '--dialect', 'cuff_shell', ...args);
}

describe.skipIf(noTrace)('a program that the text does not show', () => {
  it('does not begin, and the rest of the command runs', async () => {
    const life = new Guarded(denying('rm *'));
    const port = String(await freePort());
    const client = await served(life, '--metrics-port', port);
    for (const text of ['rm -rf v', 'x=rm; $x -rf v']) {
      expect((await run(client, text)).text).toMatch(/^cuff policy: denied \(rule\.deny\)/);
    }
    for (const text of [BY_BASE64, BY_PYTHON, 'printf "%sm -rf v" r > s; sh s']) {
      const { isError, text: said } = await run(client, `${text}; echo it goes on`);
      expect(said).toMatch(DENIED);
      expect([isError, said.includes('it goes on')]).toEqual([false, true]);
    }
    expect((await run(client, BY_BASE64)).text).toContain('126');
    expect(life.made('v')).toBe(true);
    const metrics = await (
      await fetch(`http://127.0.0.1:${port}/metrics`, { headers: METRICS })
    ).text();
    // Two texts and four processes.
    expect(metrics).toContain('cuff_policy_decisions_total{verdict="deny",code="rule.deny"} 6\n');
    expect((await run(client, 'find v -delete; echo $?')).text).toContain('0');
    expect(life.made('v')).toBe(false);
    // What may run because its programs ask does not run when nobody answers.
    mkdirSync(join(life.project, 'v'));
    rmSync(join(life.cli.root, 'gates'), { recursive: true });
    expect((await run(client, BY_BASE64)).text).toContain('nobody answered');
    expect((await run(client, 'echo plain')).text).toContain('plain');
    expect(life.made('v')).toBe(true);
  });

  it('is judged by the policy of that moment, and by none when it is turned off', async () => {
    const life = new Guarded(denying('rm *'));
    const client = await served(life);
    const slow = `until [ -e go ]; do sleep 0.05; done; ${BY_BASE64}`;
    // Longer than the policy may take to change, below.
    const waiting = client.call('shell_run', { command: slow, wait_ms: 100_000 });
    expect((await run(client, BY_BASE64)).text).toMatch(DENIED);
    life.policy(denying('touch *'));
    await answers(() => run(client, 'touch x'), true);
    writeFileSync(join(life.project, 'go'), '');
    expect((await waiting).text).not.toMatch(/policy/);
    expect(life.made('v')).toBe(false);

    mkdirSync(join(life.project, 'v'));
    life.policy(denying('rm *', 'gate: off\n'));
    await answers(() => run(client, 'touch x'), false);
    for (const text of [BY_BASE64, BY_PYTHON]) {
      expect((await run(client, text)).text).toMatch(/^cuff policy: needs approval/);
    }
    expect(life.made('v')).toBe(true);
    life.policy(denying('rm *', 'mode: warn\n'));
    await answers(() => run(client, BY_BASE64), false);
    await until(() => !life.made('v'), 'a warning holds up nothing');
  });

  it('is asked about where it might do without a process what a rule denies', async () => {
    const life = new Guarded(denying('kill *'));
    const client = await served(life);
    expect((await run(client, 'x=kill; $x -0 $$')).refused).toBe(true);
    life.policy(denying('git push *'));
    await answers(() => run(client, 'kill -0 $$'), false);
    for (const text of ['git -c alias.p=push p', 'sudo sh -c "$(cat s)"']) {
      expect([text, (await run(client, text)).refused]).toEqual([text, true]);
    }
    expect(await run(client, 'x=true; $x')).toMatchObject({ isError: false, refused: false });
  });

  it('does not begin with more words than can be judged, where its text hid it', async () => {
    const life = new Guarded(denying('touch *'));
    const client = await served(life);
    const words =
      'a=$(head -c 100000 /dev/zero | tr "\\0" a); x=$(printf uname); $x $a $a; echo $?';
    const { text } = await run(client, words);
    expect(text).toContain('its arguments are too long to be judged');
    expect(text).toMatch(/^126$/m);
  });

  it('is no shell of ours, whatever is denied to shells', async () => {
    const life = new Guarded(denying('bash *'));
    const client = await served(life);
    expect((await run(client, 'echo fine')).text).toContain('fine');
    const { text } = await run(client, `${BASH_BY_PYTHON}; echo on`);
    expect(text).toMatch(/^cuff: policy: .*`bash \*`/m);
    expect(text).toMatch(/^on$/m);
    // Nor is another shell that gets the words of ours.
    life.policy(denying('bash *').concat('      - { pattern: dash *, decision: deny }\n'));
    await answers(() => run(client, 'dash -c true'), true);
    const again = 'x=$(printf d%s ash); [ -e y ] || { touch y; $x -c "$BASH_EXECUTION_STRING"; }';
    expect((await run(client, again)).text).toMatch(/^cuff: policy: .*`dash \*`/m);
    expect(life.made('y')).toBe(true);
  });

  it('leaves no socket behind when the server stops', async () => {
    const life = new Guarded(denying('rm *'));
    const client = await served(life);
    await run(client, 'true');
    const gates = join(life.cli.root, 'gates');
    expect(readdirSync(gates)).toHaveLength(1);
    await client.close();
    await until(() => readdirSync(gates).length === 0, 'the gate is closed');
  });
});

it('does not run at all where processes cannot be judged and must be', async () => {
  const life = new Guarded(denying('rm *', 'gate: strict\n'));
  mkdirSync(join(life.project, 'v'));
  const env = { ...life.env, CUFF_RUNNER: 'off' };
  const [file, words] = life.command('cuff', '--dialect', 'cuff_shell');
  const client = await clientNamed('SDK v1')(file, words, env);
  const { text } = await run(client, 'touch made');
  await client.close();
  expect(life.made('made')).toBe(false);
  expect(text).toMatch(/^cuff policy: not run\. .*`gate: strict`.*cannot be judged here: .*\.$/);
  expect(await life.entries()).toMatchObject([
    { end_reason: 'denied', decision: { verdict: 'deny', code: 'gate' } },
  ]);
});

describe.skipIf(noSandbox)('a policy with a sandbox', () => {
  it('keeps commands in the project, away from secrets, and judges their programs', async () => {
    const outside = join('/var/tmp', `cuff-outside-${process.pid}`);
    const life = new Guarded(denying('rm *', 'sandbox: bwrap\n'));
    const client = await served(life);
    writeFileSync(join(life.project, '.env'), 'TOKEN=hidden');
    mkdirSync(join(life.project, '.git', 'hooks'), { recursive: true });
    writeFileSync(join(life.project, '.git', 'config'), '[core]\n');
    const script = [
      'echo made > made; cat made',
      `python3 -c 'open("${outside}", "w").write("x")'`,
      `python3 -c 'print(open(".env").read())'`,
      `python3 -c 'open(".git/hooks/pre-commit", "w")'`,
      `python3 -c 'open(".cuff/policy.yml", "a").write("#")'`,
      'git config --file .git/config --list; echo git $?',
      BY_PYTHON,
    ];
    writeFileSync(join(life.project, 'steps'), script.join('\n'));
    const { text } = await run(client, 'sh steps');
    expect(text).toMatch(/^made$/m);
    expect(text).not.toContain('hidden');
    expect(text).toMatch(/^git 0$/m);
    expect(text).toMatch(DENIED);
    expect([life.made('v'), life.made('.git/hooks/pre-commit')]).toEqual([true, false]);
    expect(existsSync(outside)).toBe(false);
    expect(readFileSync(join(life.project, '.cuff', 'policy.yml'), 'utf8')).not.toMatch(/#$/);
  });

  it('starts its own shell inside, whatever is denied to shells', async () => {
    const life = new Guarded(denying('bash *', 'sandbox: bwrap\n'));
    const client = await served(life);
    expect((await run(client, 'echo inside')).text).toContain('inside');
    const { text } = await run(client, BASH_BY_PYTHON);
    expect(text).toMatch(/^cuff: policy: .*`bash \*`/m);
  });

  it('writes where a policy of version 2 says, and in the scratch directory', async () => {
    const more = 'version: 2\nsandbox: bwrap\nscopes: { write: [src] }\n';
    const life = new Guarded(denying('rm *', more));
    mkdirSync(join(life.project, 'src'));
    const client = await served(life);
    const [name = ''] = readdirSync(join(life.cli.root, 'scratch'));
    const scratch = join(life.cli.root, 'scratch', name);
    const script = `for d in src . ${scratch} ${life.cli.root}; do echo x > $d/a; done; true`;
    writeFileSync(join(life.project, 'steps'), script);
    await run(client, 'sh steps');
    const made = [life.made('src/a'), life.made('a'), existsSync(join(scratch, 'a'))];
    expect([...made, existsSync(join(life.cli.root, 'a'))]).toEqual([true, false, true, false]);
  });

  it('runs nothing where there is none', async () => {
    const life = new Guarded(denying('rm *', 'sandbox: bwrap\n'));
    const bin = join(life.project, 'bin');
    mkdirSync(bin);
    const [file, words] = life.command('cuff', '--dialect', 'cuff_shell');
    const client = await clientNamed('SDK v1')(file, words, { ...life.env, PATH: bin });
    const { text } = await run(client, 'echo made > made');
    await client.close();
    expect(life.made('made')).toBe(false);
    expect(text).toMatch(/^cuff policy: not run\. .*`sandbox: bwrap`.*bwrap\) is not installed\.$/);
  });
});
