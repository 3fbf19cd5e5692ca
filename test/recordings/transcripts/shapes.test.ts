// What transcripts hold besides the samples: denials, subagents, background calls, older forms, and
// file tools.
import { describe, expect, it } from 'vitest';
import { claudeFacts } from '../../../src/recordings/transcripts/claude.ts';
import { clineFacts } from '../../../src/recordings/transcripts/cline.ts';
import { codexFacts } from '../../../src/recordings/transcripts/codex.ts';
import { copilotFacts } from '../../../src/recordings/transcripts/copilot.ts';
import { cursorFacts } from '../../../src/recordings/transcripts/cursor.ts';
import { geminiFacts } from '../../../src/recordings/transcripts/gemini.ts';
import { opencodeFacts } from '../../../src/recordings/transcripts/opencode.ts';
import { piFacts } from '../../../src/recordings/transcripts/pi.ts';
import { qwenFacts } from '../../../src/recordings/transcripts/qwen.ts';
import type { JsonObject } from '../../../src/text/json.ts';
import { calls, claudeCall, facts, linesOf } from './helper.ts';

function claudeResult(content: string, more: JsonObject = {}) {
  const message = {
    content: [{ tool_use_id: 't', type: 'tool_result', content, is_error: true }],
  };
  return { message, toolUseResult: `Error: ${content}`, ...more };
}

describe('Claude', () => {
  const ends = (content: string, more?: JsonObject) => {
    const [call] = calls(
      claudeFacts,
      claudeCall('t', 'x', { result: claudeResult(content, more) }),
    );
    return [call?.end, call?.exitCode, call?.decidedBy];
  };

  it.each([
    ['Exit code 3\nout', ['itself', 3, undefined]],
    ['Exit code 99999999999999', ['failed', null, undefined]],
    ['Command timed out after 2m 0.0s', ['timeout', null, undefined]],
    ['[Request interrupted by user for tool use]', ['interrupted', null, undefined]],
    ['<tool_use_error>InputValidationError</tool_use_error>', ['failed', null, undefined]],
    ['PreToolUse:Bash hook error: no', ['denied', null, 'hook']],
    ["The user doesn't want to proceed with this tool use.", ['denied', null, undefined]],
    ['Permission to use Bash with command x has been denied.', ['denied', null, undefined]],
  ])('a result %s', (content, expected) => {
    expect(ends(content)).toEqual(expected);
  });

  it('says who decided, a person too', () => {
    const decided = (decision: string, source: string) =>
      ends('no', { permissionDecision: { decision, source } });
    expect(decided('reject', 'hook')).toEqual(['denied', null, 'hook']);
    expect(decided('reject', 'user_reject')).toEqual(['denied', null, 'person']);
    expect(decided('accept', 'user_permanent')).toEqual(['failed', null, 'person']);
    expect(decided('reject', 'something new')).toEqual(['denied', null, undefined]);
  });

  it('a call of a subagent has the name of it', () => {
    const more = { isSidechain: true, agentId: 'a1b2' };
    const [call] = calls(claudeFacts, claudeCall('t', 'ls', { more }));
    expect([call?.sidechain, call?.session]).toEqual(['a1b2', 's1']);
    const [unnamed] = calls(claudeFacts, claudeCall('t', 'ls', { more: { isSidechain: true } }));
    expect(unnamed?.sidechain).toBe('sidechain');
  });

  it('a background call has no exit code', () => {
    const result = { toolUseResult: { stdout: '', stderr: '', backgroundTaskId: 'b73' } };
    const [call] = calls(claudeFacts, claudeCall('t', 'sleep 60', { result }));
    expect([call?.exitCode, call?.end]).toEqual([null, 'itself']);
  });

  it('an interrupted call, one without a result, and one without a structured result', () => {
    const result = { toolUseResult: { stdout: 'a', stderr: '', interrupted: true } };
    expect(calls(claudeFacts, claudeCall('t', 'x', { result }))[0]).toMatchObject({
      end: 'interrupted',
      exitCode: null,
    });
    const [first] = claudeCall('t', 'x');
    expect(calls(claudeFacts, first === undefined ? [] : [first])[0]).toMatchObject({
      end: 'open',
      exitCode: null,
      output: null,
      durationMs: null,
    });
    const bare = calls(claudeFacts, claudeCall('t', 'x', { result: { toolUseResult: undefined } }));
    expect(bare[0]).toMatchObject({ exitCode: null, output: 'out' });
  });

  it('an edit counts its lines by the patch, and a failed one is none', () => {
    const input = { file_path: '/a', old_string: 'x', new_string: 'y\nz' };
    const use = { type: 'tool_use', id: 'e', name: 'Edit', input };
    const asked = { type: 'assistant', sessionId: 's', message: { content: [use] } };
    const result = (is_error: boolean, more: JsonObject = {}) => ({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 'e', is_error }] },
      ...more,
    });
    const edited = (answer: JsonObject) =>
      facts(claudeFacts, linesOf([asked, answer])).map((fact) =>
        fact.kind === 'edit' ? [fact.edit.path, fact.edit.added, fact.edit.removed] : fact,
      );
    expect(edited(result(false))).toEqual([['/a', 2, 1]]);
    const structuredPatch = [{ lines: [' a', '+b', '+c', '-d', 7] }, { lines: 'x' }];
    expect(edited(result(false, { toolUseResult: { structuredPatch } }))).toEqual([['/a', 2, 1]]);
    expect(edited(result(true))).toEqual([]);
  });
});

describe('Codex', () => {
  const item = (payload: JsonObject): JsonObject => ({
    type: 'response_item',
    timestamp: '2026-11-01T10:00:00.000Z',
    payload,
  });
  const call = (name: string, args: JsonObject): JsonObject =>
    item({ type: 'function_call', name, call_id: 'c', arguments: JSON.stringify(args) });
  const output = (text: string): JsonObject =>
    item({ type: 'function_call_output', call_id: 'c', output: text });
  const ended = (...records: readonly JsonObject[]) => {
    const [one] = calls(codexFacts, records);
    return [one?.command, one?.exitCode, one?.output, one?.end, one?.decidedBy];
  };

  it('a call of a subagent belongs to the session of the main agent', () => {
    const meta = (payload: JsonObject): JsonObject => ({ type: 'session_meta', payload });
    const asked = call('exec_command', { cmd: 'make' });
    const sessionOf = (payload: JsonObject) =>
      calls(codexFacts, [meta(payload), asked])[0]?.session;
    expect(sessionOf({ session_id: 'main', id: 'sub', parent_thread_id: 'main' })).toBe('main');
    expect(sessionOf({ id: 'older' })).toBe('older');
  });

  it('an older shell call with a JSON result', () => {
    const json = '{"output":"hi\\n","metadata":{"exit_code":4,"duration_seconds":1.5}}';
    const asked = call('shell', { command: ['bash', '-lc', 'make'], workdir: '/w' });
    const [one] = calls(codexFacts, [asked, output(json)]);
    expect(one).toMatchObject({
      command: 'make',
      cwd: '/w',
      exitCode: 4,
      output: 'hi\n',
      durationMs: 1500,
    });
  });

  it('an argv that is no shell is quoted', () => {
    expect(ended(call('shell', { command: ['ls', 'a b'] }), output('{}'))[0]).toBe("ls 'a b'");
  });

  it('the text of a unified exec, also of one that still runs', () => {
    const text =
      'Chunk ID: a\nWall time: 1 seconds\nProcess exited with code 7\nOutput:\nExit code: 0\n';
    const asked = call('exec_command', { cmd: 'x' });
    expect(ended(asked, output(text))).toEqual(['x', 7, 'Exit code: 0\n', 'itself', undefined]);
    const runs = 'Chunk ID: a\nProcess running with session ID 3\nOutput:\n';
    expect(ended(asked, output(runs))[1]).toBe(null);
  });

  it('output that only looks like a code is no code', () => {
    const text = 'Process exited with code 0';
    expect(ended(call('exec_command', { cmd: 'x' }), output(text))[1]).toBe(null);
  });

  it('a local shell call and the older event', () => {
    const action = { command: ['/bin/sh', '-c', 'id'], working_directory: '/w' };
    const end = { type: 'exec_command_end', call_id: 'c', exit_code: 0, stdout: 'a', stderr: 'b' };
    const records = [
      item({ type: 'local_shell_call', call_id: 'c', action }),
      { type: 'event_msg', timestamp: '2026-11-01T10:00:01.000Z', payload: end },
    ];
    expect(ended(...records)).toEqual(['id', 0, 'ab', 'itself', undefined]);
  });

  it('refusals: by a person, by a hook, and a declined item', () => {
    const asked = call('exec_command', { cmd: 'x' });
    expect(ended(asked, output('rejected by user')).slice(3)).toEqual(['denied', 'person']);
    const hook = 'Command blocked by PreToolUse hook: no. Command: x';
    expect(ended(asked, output(hook)).slice(3)).toEqual(['denied', 'hook']);
    const declined = { type: 'CommandExecution', id: 'c', command: 'x', status: 'declined' };
    const done = { type: 'event_msg', payload: { type: 'item_completed', item: declined } };
    expect(ended(asked, done)[3]).toBe('denied');
  });

  it('without questions its configuration decides', () => {
    const turn = { type: 'turn_context', payload: { cwd: '/w', approval_policy: 'never' } };
    expect(ended(turn, call('exec_command', { cmd: 'x' }), output('{}'))[4]).toBe('config');
  });

  it('a patch names its files and lines', () => {
    const input =
      '*** Begin Patch\n*** Add File: a.ts\n+one\n+two\n*** Update File: b.ts\n@@\n-x\n+y\n z\n';
    const patch = item({ type: 'custom_tool_call', call_id: 'p', name: 'apply_patch', input });
    const found = facts(codexFacts, linesOf([patch])).map((fact) =>
      fact.kind === 'edit' ? [fact.edit.path, fact.edit.added, fact.edit.removed] : fact,
    );
    expect(found).toEqual([
      ['a.ts', 2, 0],
      ['b.ts', 1, 1],
    ]);
  });
});

describe('Gemini and Qwen', () => {
  const gemini = (response: JsonObject, more: JsonObject = {}) => {
    const call = {
      id: 'g',
      name: 'run_shell_command',
      args: { command: 'x', dir_path: 'sub' },
      result: [{ functionResponse: { response } }],
      status: 'success',
      ...more,
    };
    const [one] = facts(geminiFacts, linesOf([{ type: 'gemini', toolCalls: [call] }]), {
      session: 'f',
      cwd: '/srv',
    });
    return one?.kind === 'call' ? one.call : undefined;
  };

  it('a line of the output is not taken for the code', () => {
    const output = 'Output: Exit Code: 5\nProcess Group PGID: 1';
    expect(gemini({ output }, { resultDisplay: 'Exit Code: 5' })).toMatchObject({
      exitCode: 0,
      output: 'Exit Code: 5',
      cwd: '/srv/sub',
    });
  });

  it('the older form, a signal, and a background process', () => {
    const old =
      'Command: x\nDirectory: (root)\nStdout: a\nStderr: (empty)\nError: (none)\nExit Code: 2\n' +
      'Signal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 9';
    expect(gemini({ output: old })).toMatchObject({ exitCode: 2, output: 'a' });
    expect(gemini({ output: 'Output: (empty)\nSignal: 9' })?.exitCode).toBe(null);
    const background = 'Output: (empty)\nBackground PIDs: 12';
    expect(gemini({ output: background })?.exitCode).toBe(null);
  });

  it('refusals, and calls without a result', () => {
    expect(gemini({ error: 'Tool execution blocked: no' })).toMatchObject({
      end: 'denied',
      decidedBy: 'hook',
    });
    const reason = '[Operation Cancelled] Reason: User did not allow tool call';
    expect(gemini({ error: reason }, { status: 'cancelled' })).toMatchObject({
      end: 'denied',
      decidedBy: 'person',
    });
    expect(gemini({})?.end).toBe('open');
    expect(gemini({ error: 'no such file' })?.end).toBe('failed');
  });

  it('a message that is written again when the call is done is one call', () => {
    const call = {
      id: 'g',
      name: 'run_shell_command',
      args: { command: 'x' },
      status: 'executing',
    };
    const done = { ...call, result: [{ functionResponse: { response: { output: 'Output: a' } } }] };
    const found = calls(geminiFacts, [{ toolCalls: [call] }, { toolCalls: [done] }]);
    expect(found.map(({ end, line }) => [end, line])).toEqual([['itself', 2]]);
  });

  it('Qwen: a denied call, and one with a text alone', () => {
    const part = { functionCall: { id: 'q', name: 'run_shell_command', args: { command: 'x' } } };
    const asked = { type: 'assistant', message: { parts: [part] } };
    const answer = (toolCallResult: JsonObject, response: JsonObject): JsonObject => ({
      type: 'tool_result',
      message: { parts: [{ functionResponse: { response } }] },
      toolCallResult: { callId: 'q', ...toolCallResult },
    });
    const denied = answer({ status: 'error', errorType: 'execution_denied' }, { error: 'no' });
    expect(calls(qwenFacts, [asked, denied])[0]).toMatchObject({ end: 'denied', denied: 'no' });
    const text = { output: 'Command: x\nOutput: a\nExit Code: 1\nSignal: (none)' };
    const plain = answer({ status: 'success', resultDisplay: 'a' }, text);
    expect(calls(qwenFacts, [asked, plain])[0]).toMatchObject({ exitCode: 1, output: 'a' });
  });
});

describe('the others', () => {
  it('OpenCode: running, refused by a rule or by a person, failed', () => {
    const part = (state: JsonObject): JsonObject => ({
      type: 'tool',
      tool: 'bash',
      callID: 'o',
      state: { input: { command: 'x' }, ...state },
    });
    const end = (state: JsonObject) => {
      const [call] = calls(opencodeFacts, [part(state)]);
      return [call?.end, call?.decidedBy];
    };
    expect(end({ status: 'running' })).toEqual(['open', undefined]);
    const rule = 'The user has specified a rule which prevents you from using this tool call.';
    expect(end({ status: 'error', error: rule })).toEqual(['denied', 'config']);
    const person = 'The user rejected permission to use this specific tool call.';
    expect(end({ status: 'error', error: person })).toEqual(['denied', 'person']);
    expect(end({ status: 'error', error: 'spawn failed' })).toEqual(['failed', undefined]);
  });

  it('Copilot: a file that was shown is no edit', () => {
    const event = (command: string): readonly JsonObject[] => [
      {
        type: 'tool.execution_start',
        data: {
          toolCallId: command,
          toolName: 'str_replace_editor',
          arguments: { command, path: '/a', old_str: 'a', new_str: 'b\nc' },
        },
      },
      { type: 'tool.execution_complete', data: { toolCallId: command, success: true } },
    ];
    const found = facts(copilotFacts, linesOf([...event('view'), ...event('str_replace')]));
    expect(found).toEqual([
      {
        kind: 'edit',
        edit: {
          agent: 'copilot',
          session: 'file',
          call: 'str_replace',
          tool: 'str_replace_editor',
          path: '/a',
          cwd: null,
          at: null,
          added: 2,
          removed: 1,
          line: 3,
        },
      },
    ]);
  });

  it('pi: a call that timed out', () => {
    const block = { type: 'toolCall', id: 'p', name: 'bash', arguments: { command: 'x' } };
    const result = { role: 'toolResult', toolCallId: 'p', isError: true, content: [] as unknown[] };
    const records = (text: string): readonly JsonObject[] => [
      { type: 'message', message: { role: 'assistant', content: [block] } },
      { type: 'message', message: { ...result, content: [{ type: 'text', text }] } },
    ];
    const end = (text: string) => calls(piFacts, records(text))[0]?.end;
    expect(end('a\n\nCommand timed out after 5 seconds')).toBe('timeout');
    expect(end('Command aborted')).toBe('interrupted');
    expect(end('blocked by an extension')).toBe('failed');
  });

  it('Cline: several commands of one call, in messages', () => {
    const input = { commands: ['a', 'b'] };
    const parts = [
      { query: 'a', result: 'x', success: true },
      { query: 'b', result: '[Command exited with code 2]\ny', success: false },
    ];
    const found = calls(clineFacts, [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'i', name: 'run_commands', input }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'i', content: JSON.stringify(parts) }],
      },
    ]);
    expect(
      found.map(({ call, command, exitCode, output }) => [call, command, exitCode, output]),
    ).toEqual([
      ['i', 'a', 0, 'x'],
      ['i#2', 'b', 2, 'y'],
    ]);
  });

  it('Cursor: the command alone', () => {
    const input = { command: 'ls', working_directory: '/w' };
    const content = [{ type: 'text' }, { type: 'tool_use', name: 'Shell', input }];
    expect(calls(cursorFacts, [{ role: 'assistant', message: { content } }])).toEqual([
      {
        agent: 'cursor',
        session: 'file',
        call: 'line 1.2',
        command: 'ls',
        description: null,
        cwd: '/w',
        startedAt: null,
        durationMs: null,
        exitCode: null,
        output: null,
        truncated: false,
        end: 'itself',
        line: 1,
      },
    ]);
  });
});
