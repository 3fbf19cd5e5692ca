// Commands that outlast their call or their agent: in the background, behind an `&`, under an agent
// that is killed or interrupted. Each has its entry, with what it printed. The agent leads a group
// of processes, as in a terminal, and signals go to that group: some programs start themselves once
// more, and all start their commands in groups of their own.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateRoot } from '../../src/capture/paths.ts';
import { alive, until } from '../cli/helper.ts';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import { Gate } from './gate.ts';
import type { Script, ScriptCall } from './model/script.ts';
import type { AgentName } from './programs.ts';

const RECORDED = CLIENTS.filter(({ hasShell }) => hasShell);

/** Calls that go on when the model is answered. */
const BACKGROUND: Partial<Record<AgentName, (command: string) => ScriptCall>> = {
  claude: (command) => ({
    name: 'Bash',
    input: { command, description: 'a step', run_in_background: true },
  }),
  codex: (cmd) => ({ name: 'exec_command', input: { cmd, yield_time_ms: 250 } }),
  gemini: (command) => ({
    name: 'run_shell_command',
    input: { command, description: 'a step', is_background: true },
  }),
};

const IN_BACKGROUND = RECORDED.filter(({ name }) => BACKGROUND[name] !== undefined);

const ENDS_COMMANDS: readonly AgentName[] = ['claude', 'codex', 'qwen'];

const INTERRUPTED = RECORDED.filter(({ name }) => ENDS_COMMANDS.includes(name));

/** Interrupted, Gemini CLI, OpenCode and pi leave their command running, also without us. */
const LEAVES_COMMANDS = RECORDED.filter(({ name }) => !ENDS_COMMANDS.includes(name));

const WAITING = 'echo before; echo $$ > pid; read x < gate; echo "after $x"';
const LEAVING = 'echo before; { read x < gate; echo "after $x"; } &';
const LASTING = 'echo $$ > pid; read x < gate; echo $x > after';
const TREE = '(echo $BASHPID > pid; read x < gate); echo not reached';

/** What the agent does: one call. Then it waits for its model, so that it does not end. */
class Work {
  #answer: () => void = () => {};
  readonly script: Script;

  constructor(call: ScriptCall) {
    const after = new Promise<void>((resolve) => {
      this.#answer = resolve;
    });
    this.script = { main: [{ calls: [call] }, { text: 'done', after }] };
  }

  end(): void {
    this.#answer();
  }
}

function start(one: AgentCase, recorded = true): { child: ChildProcess; ended: Promise<unknown> } {
  if (recorded) one.record();
  const child = one.startAgentGroup('work [[main]]');
  child.stdout?.resume();
  child.stderr?.resume();
  return { child, ended: once(child, 'exit') };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) throw new Error('the agent did not start');
  process.kill(-pid, signal);
}

/** Resolves when the command has said which process waits at the gate. */
async function waitingProcess(one: AgentCase): Promise<number> {
  const file = join(one.project, 'pid');
  const said = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  await until(() => said().endsWith('\n'), 'the command runs');
  return Number(said());
}

/** All that is captured by now. */
function captured({ home }: AgentCase): string {
  const sessions = join(stateRoot({ HOME: home }), 'sessions');
  return readdirSync(sessions)
    .map((id) => join(sessions, id, 'output.bin'))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'latin1'))
    .join('');
}

describe.each(IN_BACKGROUND)('$name with a call in the background', (client) => {
  it('has an entry when the command ends, with all that it printed', async () => {
    const call = BACKGROUND[client.name]?.(WAITING) ?? client.shell(WAITING);
    const work = new Work(call);
    await using one = await AgentCase.start(client, work.script);
    using gate = new Gate(join(one.project, 'gate'));
    const { ended } = start(one);
    await until(() => one.model.results('main').length === 1, 'the agent goes on');
    await waitingProcess(one);
    expect(one.entries()).toEqual([]);
    gate.letThrough('it');
    await until(() => one.entries().length === 1, 'an entry');
    const whole = { command: WAITING, stdout: 'before\nafter it\n', exit_code: 0 };
    expect(one.entries()).toMatchObject([whole]);
    work.end();
    await ended;
  });
});

describe.each(RECORDED)('$name whose command leaves a process', (client) => {
  it('has an entry when the shell is done, and what was printed later with it', async () => {
    const work = new Work(client.shell(LEAVING));
    await using one = await AgentCase.start(client, work.script);
    using gate = new Gate(join(one.project, 'gate'));
    const { ended } = start(one);
    await until(() => one.entries().length === 1, 'an entry');
    const first = { command: LEAVING, stdout: 'before\n', exit_code: 0, survivors: [{}] };
    expect(one.entries()).toMatchObject([first]);
    gate.letThrough('it');
    // Codex kills what a command leaves, sooner or later than that; the others let it be.
    const killed = client.name === 'codex';
    if (!killed) await until(() => one.entries()[0]?.later !== undefined, 'what came later');
    work.end();
    await ended;
    await one.quiet();
    const [{ later } = { later: undefined }, ...others] = one.entries();
    expect(others).toEqual([]);
    if (!killed || later !== undefined) expect(later).toMatchObject({ stdout: 'after it\n' });
  });
});

describe.each(RECORDED)('$name that is killed', (client) => {
  it('has an entry for the command that was running', async () => {
    await using one = await AgentCase.start(client, new Work(client.shell(WAITING)).script);
    using gate = new Gate(join(one.project, 'gate'));
    const { child, ended } = start(one);
    await waitingProcess(one);
    // Passed on, too: a shell whose reader is gone ends at its next write, as without us.
    await until(() => captured(one).includes('before\n'), 'its output is captured');
    signalGroup(child, 'SIGKILL');
    await ended;
    // Codex has its shells get a SIGTERM when it dies, which the gate must not overtake; the
    // commands of the others go on.
    const dies = client.name === 'codex';
    if (!dies) gate.letThrough('it');
    await until(() => one.entries().length === 1, 'an entry');
    const end = dies ? { stdout: 'before\n', signal: 'SIGTERM' } : { stdout: 'before\nafter it\n' };
    expect(one.entries()).toMatchObject([{ command: WAITING, ...end }]);
  });
});

describe.each(INTERRUPTED)('$name that is interrupted', (client) => {
  it('ends all processes of its command, and the entry says so', async () => {
    await using one = await AgentCase.start(client, new Work(client.shell(TREE)).script);
    using _gate = new Gate(join(one.project, 'gate'));
    const { child, ended } = start(one);
    const waiting = await waitingProcess(one);
    signalGroup(child, 'SIGINT');
    await ended;
    await until(() => !alive(waiting) && one.entries().length === 1, 'its end');
    const [entry] = one.entries();
    expect(entry).toMatchObject({ command: TREE, exit_code: null });
    // Codex kills the group, and what would have told the signal with it.
    expect(entry?.signal ?? entry?.end_reason).toMatch(/^(SIGTERM|SIGKILL|interrupted)$/);
  });
});

describe.each(LEAVES_COMMANDS)('$name that is interrupted', (client) => {
  it.each([
    ['bare', []],
    ['recorded', [{ command: LASTING, exit_code: 0 }]],
  ])('leaves its command running, %s', async (way, entries) => {
    await using one = await AgentCase.start(client, new Work(client.shell(LASTING)).script);
    using gate = new Gate(join(one.project, 'gate'));
    const { child, ended } = start(one, way === 'recorded');
    const waiting = await waitingProcess(one);
    signalGroup(child, 'SIGINT');
    await ended;
    expect(alive(waiting)).toBe(true);
    gate.letThrough('it');
    await until(() => !alive(waiting) && one.entries().length === entries.length, 'its end');
    expect(readFileSync(join(one.project, 'after'), 'utf8')).toBe('it\n');
    expect(one.entries()).toMatchObject(entries);
  });
});
