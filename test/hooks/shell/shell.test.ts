// The shell that records: which calls it records, who may end them, and what it does when
// something that it needs is not there.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { encodeIntent, type Intent, intentName, writeIntent } from '../../../src/hooks/intent.ts';
import { claudeEnvText } from '../../../src/hooks/shell/install.ts';
import { until } from '../../cli/helper.ts';
import { CUFF, SHAPES, World } from './world.ts';

const world = new World();
afterAll(() => world.close());

const { claude, codex, gemini, opencode, pi } = SHAPES;
const CLAUDE = { ...world.env, ...claude.env };
const SANDBOXED = { ...CLAUDE, SANDBOX_RUNTIME: '1' };
const { bash, bashEnv } = world.files;

/** Of one call through our shell. */
async function called(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = CLAUDE,
  cwd: string = world.project(),
) {
  const ended = await world.run({ cwd, argv, env }).outcome;
  return { ...ended, entries: world.entries(cwd) };
}

describe('calls that become the real shell', () => {
  it.each([
    ['env of Claude', [bash, '-c', 'env'], CLAUDE],
    ['a snapshot', [bash, '-c', '-l', 'SNAPSHOT_FILE=/dev/null; echo s'], CLAUDE],
    ['a hook', [bash, '-c', 'echo h'], { ...CLAUDE, AI_AGENT: 'claude-code_2-1-325_harness' }],
    ['no agent', [bash, '-c', 'echo n'], world.env],
    ['inside of one', [bash, '-c', 'echo i'], { ...CLAUDE, CUFF_INSIDE: '1' }],
    ['interactive', [bash, '--norc', '-i', '-c', 'echo i'], CLAUDE],
    ['a version', [bash, '--version'], CLAUDE],
    ['no agent, by BASH_ENV', ['/bin/bash', '-c', 'echo n'], { ...world.env, BASH_ENV: bashEnv }],
    ['env of Claude, by BASH_ENV', ['/bin/bash', '-c', 'env'], { ...CLAUDE, BASH_ENV: bashEnv }],
    ['the sandbox of Claude', [bash, '-c', '{ socat -V; } >/dev/null 2>&1; :'], SANDBOXED],
    ['the same, called by it', [bash, '-c', `${bash} -c '{ socat -V; :; }' 2>&1`], SANDBOXED],
    ['the same, quoted', [bash, '-c', `'${bash}' -c '{ socat -V; :; }' 2>&1`], SANDBOXED],
    ['a hook of Gemini', ['bash', '-c', 'echo h'], hookOfGemini()],
  ])('%s', async (_, argv, env) => {
    const { code, entries } = await called(argv, env);
    expect({ code, entries }).toEqual({ code: 0, entries: [] });
  });

  it('a script, with BASH_ENV, too, and what the script starts', async () => {
    const cwd = world.project();
    writeFileSync(join(cwd, 's.sh'), 'bash -c "echo inner"; env | grep -c BASH_ENV');
    const env = { ...world.env, ...codex.env, BASH_ENV: bashEnv };
    const { out, entries } = await called(['/bin/bash', 's.sh'], env, cwd);
    expect({ out, entries }).toEqual({ out: 'inner\n0\n', entries: [] });
  });
});

describe('in the sandbox of Claude', () => {
  it('file 3 is handed on to the call that has the command, which is recorded', async () => {
    const inner = `exec 3<&- || exit 126; ${claude.bare('echo made; exit 3')[2]}`;
    const cwd = world.project();
    writeFileSync(join(cwd, 'three'), 'handed on\n');
    const outer = `{ socat -V; } >/dev/null 2>&1; cat <&3; ${bash} -c "$INNER"`;
    const argv = ['/bin/bash', '-c', 'exec "$0" -c "$1" 3<three', bash, outer];
    const { out, code, entries } = await called(argv, { ...SANDBOXED, INNER: inner }, cwd);
    expect({ out, code }).toEqual({ out: 'handed on\nmade\n', code: 3 });
    expect(entries).toMatchObject([{ command: 'echo made; exit 3', exit_code: 3 }]);
  });

  it.each([
    ['of another agent', { ...world.env, ...gemini.env, SANDBOX_RUNTIME: '1' }],
    ['without the sandbox', CLAUDE],
  ])('a text that begins like its own is recorded %s', async (_, env) => {
    const { entries } = await called([bash, '-c', '{ socat -V; } >/dev/null 2>&1; :'], env);
    expect(entries).toHaveLength(1);
  });
});

/** Hooks of Codex: BASH_ENV is theirs, too, and no variable says that an agent called them. */
it('goes on as the real shell where BASH_ENV brought a call that is not recorded', async () => {
  const text = 'echo ran; env | grep -c -e CUFF_INSIDE -e BASH_ENV';
  const env = { ...world.env, BASH_ENV: bashEnv };
  const { out, entries } = await called(['/bin/bash', '-c', text], env);
  expect({ out, entries }).toEqual({ out: 'ran\n0\n', entries: [] });
});

function hookOfGemini(): Readonly<Record<string, string>> {
  const path = `${world.files.shells}:${world.env.PATH}`;
  return { ...world.env, ...gemini.env, PATH: path, GEMINI_PROJECT_DIR: '/' };
}

it("puts back the user's BASH_ENV, and sources it", async () => {
  const cwd = world.project();
  const own = join(cwd, 'own.sh');
  writeFileSync(own, 'mine=yes');
  const env = { ...world.env, ...codex.env, BASH_ENV: bashEnv, CUFF_USER_BASH_ENV: own };
  const { out, entries } = await called(['/bin/bash', '-c', 'echo $mine $BASH_ENV'], env, cwd);
  expect(out).toBe(`yes ${own}\n`);
  expect(entries).toHaveLength(1);
});

it('records one entry where CLAUDE_CODE_SHELL and CLAUDE_ENV_FILE name the shell', async () => {
  const stanza = claudeEnvText(world.files);
  const front = `source /nowhere 2>/dev/null || true && ${stanza}: && `;
  const text = `${front}eval 'env | grep -c CUFF_I' < /dev/null && pwd -P >| /dev/null`;
  for (const program of [bash, '/bin/bash']) {
    const { out, entries } = await called([program, '-c', text]);
    expect(out).toBe('0\n');
    expect(entries).toMatchObject([{ command: 'env | grep -c CUFF_I', shell_text: text }]);
  }
});

it('gives no variable of its own to a command that only names it', async () => {
  const { out } = await called([bash, '-c', 'echo "[$CUFF_INSIDE]"']);
  expect(out).toBe('[]\n');
});

it('runs in the session and the group that the agent started it in', async () => {
  const argv = [bash, '-c', "cut -d' ' -f5,6 /proc/$$/stat"];
  const { child, outcome } = world.run({ cwd: world.project(), argv, env: CLAUDE });
  expect((await outcome).out).toBe(`${child.pid} ${child.pid}\n`);
});

describe('ends', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s to the group ends all', async (name) => {
    const cwd = world.project();
    const argv = [bash, '-c', 'mkfifo f; (echo $BASHPID; read x <> f)'];
    const { child, outcome } = world.run({ cwd, argv, env: CLAUDE });
    const [first] = await once(child.stdout ?? child, 'data');
    process.kill(-(child.pid ?? 0), name);
    expect(await outcome).toMatchObject({ code: null, signal: name });
    await until(() => !isAlive(Number(first)), 'the tree is gone');
    expect(world.entries(cwd)).toMatchObject([{ signal: name, stdout: `${String(first)}` }]);
  });

  it('a signal to the shell alone reaches it once', async () => {
    // Bash may look for signals just before it waits, so it waits for a second at a time.
    const text =
      'trap "echo got; exit 5" TERM; mkfifo f; echo ready; while :; do read -t 1 x <> f; done';
    const argv = [bash, '-c', text];
    const { child, outcome } = world.run({ cwd: world.project(), argv, env: CLAUDE });
    await once(child.stdout ?? child, 'data');
    process.kill(child.pid ?? 0, 'SIGTERM');
    const { out, code } = await outcome;
    expect({ out, code }).toEqual({ out: 'ready\ngot\n', code: 5 });
  });

  it('SIGKILL of the group ends the command, and there is an entry all the same', async () => {
    const cwd = world.project();
    const argv = [bash, '-c', 'echo before $$; mkfifo f; cat f'];
    const { child, outcome } = world.run({ cwd, argv, env: CLAUDE });
    const [first] = await once(child.stdout ?? child, 'data');
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    expect(await outcome).toMatchObject({ signal: 'SIGKILL' });
    await until(() => world.entries(cwd).length === 1, 'an entry');
    // A busy system lets a killed process die later than the entry is written.
    await until(() => !isAlive(Number(String(first).split(' ')[1])), 'the command has ended');
    expect(world.entries(cwd)).toMatchObject([{ stdout: String(first), exit_code: null }]);
  });

  it('SIGKILL of the shell alone ends it, as it would have ended the bare one', async () => {
    const cwd = world.project();
    const argv = [bash, '-c', 'echo $$; mkfifo f; read x <> f'];
    const { child, outcome } = world.run({ cwd, argv, env: CLAUDE });
    const [first] = await once(child.stdout ?? child, 'data');
    child.kill('SIGKILL');
    expect(await outcome).toMatchObject({ signal: 'SIGKILL' });
    await until(() => !isAlive(Number(first)) && world.entries(cwd).length === 1, 'its end');
    expect(world.entries(cwd)).toMatchObject([{ signal: 'SIGKILL' }]);
  });

  it('a background process is listed under its session, and its output recorded', async () => {
    const cwd = world.project();
    execFileSync('mkfifo', [join(cwd, 'f')]);
    const text = 'echo now; { read x < f; echo later $x; } & ';
    const { child, outcome } = world.run({ cwd, argv: [bash, '-c', text], env: CLAUDE });
    await once(child, 'exit');
    expect(world.entries(cwd)).toMatchObject([{ stdout: 'now\n', exit_code: 0 }]);
    const ps = (session: string): { runs: unknown[] } =>
      JSON.parse(
        execFileSync(process.execPath, [CUFF, 'ps', '--json', '--session', session], {
          env: world.env,
          encoding: 'utf8',
        }),
      );
    expect(ps('c-1').runs).toMatchObject([
      { agent: 'claude', agent_session: 'c-1', tool_call: null, processes: [{}] },
    ]);
    expect(ps('other').runs).toEqual([]);
    writeFileSync(join(cwd, 'f'), 'x\n');
    expect((await outcome).out).toBe('now\nlater x\n');
    const sessions = join(cwd, '.cuff', 'recordings', 'sessions');
    const later = (): string =>
      readdirSync(sessions)
        .filter((name) => /later/.test(name))
        .map((name) => readFileSync(join(sessions, name), 'utf8'))
        .join('');
    await until(() => later().includes('later x'), 'what came later');
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

it('fifty calls at once have fifty entries', async () => {
  const cwd = world.project();
  const numbers = Array.from({ length: 50 }, (_, at) => String(at));
  const ended = await Promise.all(
    numbers.map((at) => world.call(opencode, `echo ${at}`, cwd).then(({ out }) => out.trim())),
  );
  expect(ended).toEqual(numbers);
  const commands = world.entries(cwd).map(({ command }) => command);
  expect(commands.sort()).toEqual(numbers.map((at) => `echo ${at}`).sort());
});

describe('what is missing', () => {
  it('a state root that cannot be written: the command runs, and has an entry', async () => {
    const other = new World();
    try {
      const cwd = other.project();
      rmSync(join(other.root, 'sessions'), { recursive: true, force: true });
      writeFileSync(join(other.root, 'sessions'), 'a file in its place');
      const ended = await other.call(pi, 'echo works; exit 3', cwd);
      expect(ended).toMatchObject({ code: 3, out: 'works\n', err: '' });
      expect(other.entries(cwd)).toMatchObject([{ exit_code: 3, command: 'echo works; exit 3' }]);
    } finally {
      other.close();
    }
  });

  it('a journal that cannot be written: the command runs; strict settings refuse it', async () => {
    const cwd = world.project();
    writeFileSync(join(cwd, '.cuff'), 'a file in its place');
    expect(await world.call(pi, 'echo works', cwd)).toMatchObject({ code: 0, out: 'works\n' });
    const settings = join(world.base, 'home', '.config', 'cuff');
    mkdirSync(settings, { recursive: true });
    writeFileSync(
      join(settings, 'settings.yml'),
      'plugins:\n  bash_recorder:\n    config:\n      recording:\n        strict: true\n',
    );
    try {
      const { code, out, err } = await world.call(pi, 'echo works', cwd);
      expect({ code, out }).toEqual({ code: 126, out: '' });
      expect(err).toContain('cannot be recorded');
    } finally {
      rmSync(settings, { recursive: true });
    }
  });

  it.each([false, true])('cuff is gone, strict %s', async (strict) => {
    const other = new World({ strict });
    try {
      const client = join(other.files.shells, 'client');
      writeFileSync(client, readFileSync(client, 'utf8').replace(/^cuff .*/m, 'cuff /nowhere'));
      const ended = await other.call(pi, 'echo works', other.project());
      if (strict) expect(ended).toMatchObject({ code: 126, out: '' });
      else expect(ended).toMatchObject({ code: 0, out: 'works\n', err: '' });
      expect(ended.err.includes('cannot be recorded')).toBe(strict);
    } finally {
      other.close();
    }
  });

  it.each([false, true])('cuff does not answer in time, strict %s', async (strict) => {
    const other = new World({ strict, waits: { 'helper-ms': 1 } });
    try {
      const stuck = join(other.base, 'stuck.cjs');
      writeFileSync(stuck, "require('node:fs').readFileSync(3)"); // until the client has gone
      const client = join(other.files.shells, 'client');
      writeFileSync(client, readFileSync(client, 'utf8').replace(/^cuff .*/m, `cuff ${stuck}`));
      const ended = await other.call(pi, 'echo works', other.project());
      if (strict) expect(ended).toMatchObject({ code: 126, out: '' });
      else expect(ended).toMatchObject({ code: 0, out: 'works\n', err: '' });
      expect(ended.err.includes('cuff did not answer')).toBe(strict);
    } finally {
      other.close();
    }
  });

  it('the shell itself is gone: BASH_ENV leaves a shell that works', async () => {
    const other = new World();
    try {
      rmSync(other.files.bash);
      const ended = await other.call(codex, 'echo works', other.project());
      expect(ended).toMatchObject({ code: 0, out: 'works\n', err: '' });
    } finally {
      other.close();
    }
  });

  it('no real shell: it says so', async () => {
    const zsh = { ...CLAUDE, CUFF_REAL_SHELL: bash, PATH: '/nowhere' };
    const { code, out } = await called([bash, '-c', 'echo $BASH'], zsh);
    expect({ code, out }).toEqual({ code: 0, out: '/bin/bash\n' }); // never itself
  });
});

describe('intents', () => {
  const stored = (cwd: string, command: string, more: Partial<Intent> = {}): Intent => ({
    agent: 'claude',
    session: 'c-1',
    tool_call: 'toolu_1',
    command,
    description: 'say it',
    cwd,
    permission_mode: 'default',
    decision: null,
    at: Date.now(),
    ...more,
  });
  const known = { tool_call_id: 'toolu_1', description: 'say it', context_source: 'self-reported' };
  const unknown = { tool_call_id: null, description: null, context_source: 'environment' };

  it('gives the call and the description, once', async () => {
    const cwd = world.project();
    writeIntent(world.env, stored(cwd, 'echo a'));
    await world.call(claude, 'echo a', cwd);
    await world.call(claude, 'echo a', cwd);
    expect(world.entries(cwd)).toMatchObject([known, unknown]);
  });

  it.each([
    ['of another session', (cwd: string) => stored(cwd, 'echo a', { session: 'c-2' })],
    ['of another agent', (cwd: string) => stored(cwd, 'echo a', { agent: 'codex' })],
    ['of another command', (cwd: string) => stored(cwd, 'echo b')],
    ['of another directory', () => stored('/', 'echo a')],
    ['that is too old', (cwd: string) => stored(cwd, 'echo a', { at: Date.now() - 61_000 })],
    ['of the future', (cwd: string) => stored(cwd, 'echo a', { at: Date.now() + 60_000 })],
  ])('does not believe one %s', async (_, make) => {
    const cwd = world.project();
    writeIntent(world.env, make(cwd));
    await world.call(claude, 'echo a', cwd);
    expect(world.entries(cwd)).toMatchObject([unknown]);
  });

  it('does not believe a link, or a file that others can write', async () => {
    const cwd = world.project();
    const intents = join(world.root, 'intents');
    mkdirSync(intents, { recursive: true, mode: 0o700 });
    const text = encodeIntent(stored(cwd, 'echo a'));
    const elsewhere = join(world.base, 'forged');
    writeFileSync(elsewhere, text, { mode: 0o600 });
    const path = join(intents, intentName(stored(cwd, 'echo a')));
    symlinkSync(elsewhere, path);
    await world.call(claude, 'echo a', cwd);
    rmSync(path, { force: true });
    cpSync(elsewhere, path);
    chmodSync(path, 0o666);
    await world.call(claude, 'echo a', cwd);
    expect(world.entries(cwd)).toMatchObject([unknown, unknown]);
  });
});
