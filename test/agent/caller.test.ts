// Who asks: every place an agent may say it in, their order, and what is not let through.
import { describe, expect, it } from 'vitest';
import { agentContext, NO_CONTEXT } from '../../src/agent/caller.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

function contextOf(
  meta: Readonly<Record<string, unknown>>,
  client?: string,
  env: Readonly<Record<string, string>> = {},
) {
  return agentContext({ meta, client: client ? { name: client, version: '1' } : undefined }, env);
}

describe('the context of a call', () => {
  it('is what its metadata says', () => {
    const meta = { agent_id: 'claude-code', conversation_id: 'conv_abc123' };
    expect(contextOf({ ...meta, tool_call_id: 'tc_xyz789' })).toEqual({
      agentId: 'claude-code',
      conversationId: 'conv_abc123',
      toolCallId: 'tc_xyz789',
      traceId: null,
    });
  });

  it('is empty when nobody says anything', () => {
    expect(contextOf({})).toEqual(NO_CONTEXT);
  });

  it('has the words of Claude Code', () => {
    expect(
      contextOf({ 'claudecode/toolUseId': 'toolu_1' }, 'claude-code', {
        CLAUDE_CODE_SESSION_ID: 'session-1',
      }),
    ).toEqual({
      agentId: 'claude-code',
      conversationId: 'session-1',
      toolCallId: 'toolu_1',
      traceId: null,
    });
  });

  it('has the words of Codex, as an object or as text', () => {
    const turn = { session_id: 's-1', thread_id: 't-1', turn_id: 'turn-1' };
    const expected = { ...NO_CONTEXT, conversationId: 's-1', traceId: 'turn-1' };
    expect(contextOf({ 'x-codex-turn-metadata': turn })).toEqual(expected);
    expect(contextOf({ 'x-codex-turn-metadata': JSON.stringify(turn) })).toEqual(expected);
    expect(contextOf({ 'x-codex-turn-metadata': 'no json', threadId: 't-2' })).toEqual({
      ...NO_CONTEXT,
      conversationId: 't-2',
    });
    expect(contextOf({}, undefined, { CODEX_THREAD_ID: 't-3' }).conversationId).toBe('t-3');
  });

  it('has the call of Codex and the conversation of Copilot', () => {
    expect(contextOf({ callId: 'call_1' }).toolCallId).toBe('call_1');
    const env = { COPILOT_AGENT_SESSION_ID: 'session-2' };
    expect(contextOf({}, 'github-copilot', env)).toMatchObject({
      agentId: 'github-copilot',
      conversationId: 'session-2',
    });
  });

  it('takes what the request says before what the environment says', () => {
    const env = { CLAUDE_CODE_SESSION_ID: 'env', CODEX_THREAD_ID: 'env' };
    const meta = { conversation_id: 'meta', threadId: 'thread', agent_id: 'me' };
    expect(contextOf(meta, 'client', env)).toMatchObject({ conversationId: 'meta', agentId: 'me' });
  });

  it('takes a trace id from a traceparent, and from nothing else', () => {
    const traced = (traceparent: unknown): string | null => contextOf({ traceparent }).traceId;
    expect(traced(`00-${TRACE}-00f067aa0ba902b7-01`)).toBe(TRACE);
    expect(traced(`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`)).toBeNull();
    expect(traced('00-xyz')).toBeNull();
    expect(traced(7)).toBeNull();
  });

  it('lets nothing long, invisible or of another type through', () => {
    expect(contextOf({ agent_id: 'a\u001b[31m\u0000b\u202ec\n', conversation_id: '' })).toEqual({
      ...NO_CONTEXT,
      agentId: 'a[31mbc',
    });
    expect(contextOf({ agent_id: 'x'.repeat(5000) }).agentId).toHaveLength(200);
    expect(contextOf({ agent_id: { a: 1 }, conversation_id: 7, tool_call_id: null })).toEqual(
      NO_CONTEXT,
    );
    expect([...(contextOf({ agent_id: '😀'.repeat(300) }).agentId ?? '')]).toHaveLength(200);
  });
});
