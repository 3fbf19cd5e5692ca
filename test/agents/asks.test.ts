// A question of the policy that is handed to the client: in each pair of `PROVEN_ASKS` the program
// asks its person, starts nothing without a yes, and starts the command with one. Where no person
// sits at the program, or a program may answer instead, nothing is handed over.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeIntent, encodeIntent, intentsDir } from '../../src/hooks/intent.ts';
import { PROVEN_ASKS } from '../../src/text/agents.ts';
import { until } from '../cli/helper.ts';
import type { Terminal } from '../shell/tmux.ts';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import { type AgentClient, writeConfig } from './clients/client.ts';
import { addTo, HOOKS } from './hooks.ts';
import type { ScriptCall } from './model/script.ts';

const REASON = 'a person has to look at this';

const POLICY = `default: allow
policies:
  - name: made by people
    commands:
      - pattern: touch asked*
        decision: ask
        reason: ${REASON}
`;

const APPROVE = /cuff policy approve \w+/;

/** Its rules allow the command: a question that is asked all the same is the hook's. */
async function started(client: AgentClient, ...calls: readonly ScriptCall[]): Promise<AgentCase> {
  const one = await AgentCase.start(client, { main: calls.map((call) => ({ calls: [call] })) });
  writeConfig(join(one.home, '.config', 'cuff', 'policy.yml'), POLICY);
  addTo(join(one.home, '.claude', 'settings.json'), { permissions: { allow: ['Bash'] } });
  HOOKS[client.name]?.(one, one.cuffProgram);
  one.record();
  return one;
}

function made(one: AgentCase): readonly string[] {
  return ['asked-1', 'asked-2'].filter((name) => existsSync(join(one.project, name)));
}

/** Resolves when the program asks about the command, with the reason of the policy. */
async function asks(window: Terminal, command: string): Promise<void> {
  await window.shows(new RegExp(`${command}[\\s\\S]*${REASON}[\\s\\S]*${QUESTION}`));
}

const QUESTION = 'Do you want to ';

/** A key is lost on a question that has just come up, so it is pressed until the question goes. */
async function answer(window: Terminal, key: string): Promise<void> {
  let pressed = Number.NEGATIVE_INFINITY;
  await until(() => {
    if (!window.screen().includes(QUESTION)) return true;
    if (performance.now() - pressed > AGAIN_MS) {
      window.press(key);
      pressed = performance.now();
    }
    return false;
  }, `the question goes by ${key}`);
}

const AGAIN_MS = 1_000; // a person would wait that long, too

const CLAUDE = CLIENTS.filter(({ name }) => name === 'claude');

describe.each(CLAUDE)('$name', (client) => {
  const modes = PROVEN_ASKS.map(({ permissionMode }) => permissionMode);

  it.each(modes)('asks its person in the mode %s, and does as it is told', async (mode) => {
    const calls = ['touch asked-1', 'touch asked-2'].map((command) => client.shell(command));
    await using one = await started(client, ...calls);
    const window = one.openWindow('work [[main]]', ['--permission-mode', mode]);
    try {
      await asks(window, 'touch asked-1');
      expect(made(one)).toEqual([]);
      await answer(window, '2'); // No
      await window.shows(/Interrupted/);
      window.type('go on');
      await asks(window, 'touch asked-2');
      expect(made(one)).toEqual([]);
      await answer(window, '1'); // Yes
      await window.shows(/● done/); // the model's last word
    } finally {
      await window.close();
    }
    await one.quiet();
    expect(made(one)).toEqual(['asked-2']);
    expect(one.entries()).toMatchObject([
      { command: 'touch asked-2', exit_code: 0, decision: { approved: 'elicitation' } },
    ]);
  });

  it.each([
    [9, ['asked-1']],
    [11, []],
  ])('waits for its person: after %i minutes a yes starts %j', async (minutes, expected) => {
    await using one = await started(client, client.shell('touch asked-1'));
    const window = one.openWindow('work [[main]]', ['--permission-mode', 'default']);
    try {
      await asks(window, 'touch asked-1');
      askedEarlier(one, minutes);
      await answer(window, '1'); // Yes
      await window.shows(/● done/);
    } finally {
      await window.close();
    }
    await one.quiet();
    expect(made(one)).toEqual(expected);
    const told = one.model.results('main').map(({ text }) => APPROVE.test(text));
    expect(told).toEqual([expected.length === 0]);
  });

  it('asks before it writes a file, in a mode that asks about no other file', async () => {
    const write = (name: string) => ({
      name: 'Write',
      input: () => ({ file_path: join(places.project, name), content: 'be kind\n' }),
    });
    const calls = ['free.md', 'CLAUDE.md', 'CLAUDE.md'].map(write);
    await using one = await started(client, ...calls);
    const places = one;
    const written = () =>
      ['free.md', 'CLAUDE.md'].map((name) => existsSync(join(one.project, name)));
    addHooks(one, hooksFor('PreToolUse', one.cuffProgram, ['hook']));
    const window = one.openWindow('work [[main]]', ['--permission-mode', 'acceptEdits']);
    try {
      await window.shows(/Do you want to create CLAUDE\.md/);
      await answer(window, '2'); // No
      await window.shows(/Interrupted|rejected/);
      expect(written()).toEqual([true, false]);
      window.type('go on');
      await window.shows(/Do you want to/);
      await answer(window, '1');
      await window.shows(/● done/);
    } finally {
      await window.close();
    }
    expect(written()).toEqual([true, true]);
  });

  it.each(['Escape', 'its end'])('starts nothing when %s is the answer', async (key) => {
    await using one = await started(client, client.shell('touch asked-1'));
    const window = one.openWindow('work [[main]]', ['--permission-mode', 'default']);
    try {
      await asks(window, 'touch asked-1');
      if (key !== 'its end') await answer(window, key);
    } finally {
      await window.close();
    }
    await one.quiet();
    expect([made(one), one.entries()]).toEqual([[], []]);
  });

  it('is told an id in the mode auto', async () => {
    await using one = await started(client, client.shell('touch asked-1'));
    const window = one.openWindow('work [[main]]', ['--permission-mode', 'auto']);
    try {
      await window.shows(/● done/);
    } finally {
      await window.close();
    }
    expectRefused(one);
  });

  it.each(['its settings', 'an option'])('is told an id where %s may answer', async (place) => {
    await using one = await started(client, client.shell('touch asked-1'));
    const yes = { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } };
    const command = answering(one, { hookSpecificOutput: yes });
    const hooks = hooksFor('PermissionRequest', command);
    if (place === 'its settings') addHooks(one, hooks);
    const option = ['--settings', JSON.stringify({ hooks })];
    const args = ['--permission-mode', 'default', ...(place === 'an option' ? option : [])];
    const window = one.openWindow('work [[main]]', args);
    try {
      await window.shows(/● done/);
    } finally {
      await window.close();
    }
    expectRefused(one);
  });

  it.each([
    ['default', []],
    ['bypassPermissions', []],
    ['default', ['--permission-prompt-tool', 'mcp__cuff__Bash']],
  ])('is told an id in the mode %s where no person is, with %j', async (mode, more) => {
    await using one = await started(client, client.shell('touch asked-1'));
    if (more.length > 0) await one.addMcp();
    const args = ['--permission-mode', mode, ...more];
    await one.agent('work [[main]]', { permissions: 'rules', args });
    await one.quiet();
    expectRefused(one);
  });
});

/** As if the question had come up so long ago. */
function askedEarlier(one: AgentCase, minutes: number): void {
  const directory = intentsDir(one.env);
  const [name = '', ...more] = readdirSync(directory).filter((file) => file.endsWith('.intent'));
  expect(more).toEqual([]);
  const path = join(directory, name);
  const stored = decodeIntent(readFileSync(path, 'utf8'), name);
  if (stored === undefined) throw new Error(`${path} is no intent`);
  const { intent } = stored;
  writeFileSync(path, encodeIntent({ ...intent, at: intent.at - minutes * 60_000 }));
}

function expectRefused(one: AgentCase): void {
  const told = one.model.results('main').map(({ text }) => text);
  expect(told).toEqual([expect.stringMatching(APPROVE)]);
  expect(made(one)).toEqual([]);
}

/** A hook that gives this answer, whatever it is told. */
function answering(one: AgentCase, json: object): string {
  const path = join(one.home, 'answering-hook');
  const script = `#!/bin/sh\ncat > /dev/null\necho '${JSON.stringify(json)}'\n`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

function hooksFor(event: string, command: string, args?: readonly string[]): object {
  return { [event]: [{ matcher: '', hooks: [{ type: 'command', command, args }] }] };
}

function addHooks({ home }: AgentCase, more: object): void {
  const file = join(home, '.claude', 'settings.json');
  const { hooks } = JSON.parse(readFileSync(file, 'utf8'));
  addTo(file, { hooks: { ...hooks, ...more } });
}

/** Why the other programs are handed no question: what they do with a hook that asks. */
describe.each(CLIENTS.filter(({ name }) => name === 'codex'))('$name', (client) => {
  it('takes a hook that asks for a broken one, and runs the command', async () => {
    await using one = await AgentCase.start(client, {
      main: [{ calls: [client.shell('touch asked-1')] }],
    });
    HOOKS.codex?.(one, answering(one, PRE_TOOL_ASK));
    await one.agent('work [[main]]');
    expect(made(one)).toEqual(['asked-1']);
  });
});

const PRE_TOOL_ASK = {
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' },
};
