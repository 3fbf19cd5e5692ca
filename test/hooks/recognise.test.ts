// Who calls is told by the payload: real ones, those of documents, and ones that no agent sends.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recognise } from '../../src/hooks/recognise.ts';
import { AGENT_IDS } from '../../src/text/agents.ts';
import { lacking } from '../requirements.ts';
import { BEFORE, HOOKED, shellCall } from './payloads.ts';
import { NO_SAMPLES, samples } from './place.ts';

const cwd = '/srv/app';

function agentOf(payload: object, named?: (typeof AGENT_IDS)[number], env = {}) {
  return recognise(JSON.parse(JSON.stringify(payload)), env, named)?.call;
}

describe('a real payload', () => {
  const missing = lacking(NO_SAMPLES, 'the samples of agents are not beside this repository');

  it.skipIf(missing).each([
    ['claude', ['start', 'before', 'after', 'before', 'failure', 'before', 'after', 'before']],
    ['codex', ['start', 'before', 'after', 'end']],
    ['copilot', ['start', 'before', 'after', 'before', 'end']],
    ['gemini', ['start', 'before', 'after', 'before', 'after', 'end']],
    ['qwen', ['before', 'failure', 'before', 'after']],
    ['cline', ['before', 'before', 'after', 'after', 'before', 'before', 'after', 'after']],
  ])('of %s is known by itself, whatever the argument says', (agent, events) => {
    for (const named of [undefined, ...AGENT_IDS]) {
      const calls = samples(`hook-stdin-${agent}.jsonl`).map((line) =>
        agentOf(JSON.parse(line), named),
      );
      expect(calls.map((call) => call?.agent)).toEqual(events.map(() => agent));
      expect(calls.map((call) => call?.event)).toEqual(events);
    }
  });

  it.skipIf(missing)('of the plugin for OpenCode is known where it tells of a tool', () => {
    const calls = samples('hook-plugin-opencode.jsonl').map((line) => agentOf(JSON.parse(line)));
    expect(calls.map((call) => call && [call.agent, call.event])).toEqual([
      undefined,
      ['opencode', 'before'],
      undefined,
      ['opencode', 'after'],
    ]);
  });

  it.skipIf(missing)('tells how the command ended, as far as the client says', () => {
    const results = (agent: string) =>
      samples(`hook-${agent}.jsonl`).flatMap((line) => agentOf(JSON.parse(line))?.results ?? []);
    const ends = (agent: string) =>
      results(agent).map(({ exitCode, output }) => [exitCode, output?.slice(0, 20)]);
    expect(ends('stdin-claude')).toEqual([
      [0, 'hi 2 sq\nerr'],
      [3, ''],
      [null, ''],
    ]);
    expect(ends('stdin-codex')).toEqual([[null, 'out\nerr\n']]);
    expect(ends('stdin-copilot')).toEqual([[3, 'out\nerr']]);
    expect(ends('stdin-gemini')).toEqual([
      [3, 'out\nerr'],
      [0, 'PID  PPID  PGID   SI'],
    ]);
    expect(ends('stdin-qwen')).toEqual([
      [3, 'out\nerr'],
      [0, 'QWEN_CODE_MANAGED_NP'],
    ]);
    expect(ends('stdin-cline').slice(0, 1)).toEqual([[3, 'out\n\n[stderr]\nerr\n']]);
    expect(ends('plugin-opencode')).toEqual([[3, 'hi\nerr\n']]);
  });
});

describe('a payload', () => {
  it.each(HOOKED)('of %s is known by its own form', (agent) => {
    const call = agentOf(shellCall(agent, 'echo hi', { cwd }));
    expect(call?.agent).toBe(agent);
    expect(call?.event).toBe('before');
    expect(call?.cwd).toBe(cwd);
    expect(call?.tool).toMatchObject({ kind: 'shell', commands: ['echo hi'] });
  });

  it('that came through a file of Claude’s is of the agent that sent it', () => {
    const bare = { ...BEFORE.vscode({ cwd, tool: 'Bash', input: { command: 'ls' } }) };
    expect(agentOf(bare)?.agent).toBe('vscode');
    expect(agentOf(bare, 'copilot')?.agent).toBe('copilot');
    expect(agentOf(bare, 'vscode', { COPILOT_CLI: '1' })?.agent).toBe('copilot');
    expect(agentOf(bare, 'claude')?.agent).toBe('vscode');
    const cursor = { ...BEFORE.claude({ cwd, tool: 'Bash', input: {} }), cursor_version: '2' };
    expect(agentOf(cursor, 'claude')?.agent).toBe('cursor');
  });

  it('of Cursor’s shell hook has the command at its top', () => {
    const payload = {
      ...{ conversation_id: 'c', generation_id: 'g', cursor_version: '2', workspace_roots: ['/w'] },
      ...{ hook_event_name: 'beforeShellExecution', command: 'ls', cwd, user_email: 'a@b.example' },
    };
    expect(agentOf(payload)?.tool).toEqual({
      kind: 'shell',
      name: 'Shell',
      commands: ['ls'],
      description: null,
    });
  });

  it.each([
    ['nothing', {}],
    ['no known field', { a: 1, b: { c: 2 } }],
    ['only an event', { hook_event_name: 'PreToolUse' }],
    ['an event of a wrong type', { hook_event_name: 7, session_id: 's', tool_name: 'Bash' }],
    ['a session of a wrong type', { sessionId: 7, timestamp: 1 }],
    ['a tool of a wrong type', { toolName: 7, toolCallId: 'x' }],
  ])('with %s is of no agent', (_name, payload) => {
    expect(agentOf(payload)).toBeUndefined();
    expect(agentOf(payload, 'claude')).toBeUndefined();
  });

  it('is read without harm, whatever its fields hold', () => {
    const values = fc.oneof(fc.jsonValue(), fc.string(), fc.constant('Bash'), fc.constant(cwd));
    fc.assert(
      fc.property(fc.constantFrom(...HOOKED), fc.infiniteStream(values), (agent, stream) => {
        const whole: Record<string, unknown> = { ...shellCall(agent, 'ls', { cwd }) };
        const known = agentOf(whole)?.agent;
        expect(known).toBe(agent);
        for (const name of Object.keys(whole)) {
          const odd = { ...whole, [name]: stream.next().value };
          const call = agentOf(odd);
          if (call === undefined) continue;
          expect(AGENT_IDS).toContain(call.agent);
          for (const id of [call.session, call.toolCall]) {
            expect(id === null || (id.length > 0 && id.length <= 200)).toBe(true);
          }
          expect(call.cwd === null || typeof call.cwd === 'string').toBe(true);
        }
      }),
    );
  });
});

it('a line that a command prints is not taken for its exit code', () => {
  const after = (llmContent: string, returnDisplay: string) =>
    agentOf({
      ...BEFORE.gemini({ cwd, tool: 'run_shell_command', input: { command: 'x' } }),
      hook_event_name: 'AfterTool',
      tool_response: { llmContent, returnDisplay },
    })?.results[0]?.exitCode;
  expect(after('Output: Exit Code: 7\nProcess Group PGID: 1', 'Exit Code: 7')).toBe(0);
  expect(after('Output: Exit Code: 0\nExit Code: 7\n', 'Exit Code: 0')).toBe(7);
  expect(after('Output: something else', 'cut')).toBeNull();
});
