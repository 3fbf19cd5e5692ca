// The variables that `cuff exec` gives to an agent.
import { describe, expect, it } from 'vitest';
import { agentCall } from '../../../src/hooks/shell/agent-call.ts';
import { agentEnvironment } from '../../../src/hooks/shell/exec.ts';
import { shellFiles } from '../../../src/hooks/shell/install.ts';

const files = shellFiles({ CUFF_STATE_ROOT: '/state' });
const USER = { PATH: '/bin', SHELL: '/bin/bash', HOME: '/u', BASH_ENV: '/u/env' };

describe('cuff exec', () => {
  it.each([
    ['claude', { CLAUDE_CODE_SHELL: '/state/shells/bash' }],
    ['/opt/bin/claude', { CLAUDE_CODE_SHELL: '/state/shells/bash' }],
    ['gemini', { PATH: '/state/shells:/bin' }],
    ['opencode', { SHELL: '/state/shells/bash', CUFF_USER_SHELL: '/bin/bash' }],
    ['codex', { BASH_ENV: '/state/bash-env', CUFF_USER_BASH_ENV: '/u/env', SHLVL: '1' }],
    ['goose', { GOOSE_SHELL: '/state/shells/bash', CUFF_AGENT: 'goose' }],
    ['aider', { SHELL: '/state/shells/bash', CUFF_AGENT: 'aider' }],
  ])('%s gets what it looks at', (program, wanted) => {
    expect(agentEnvironment(program, USER, files)).toMatchObject({ HOME: '/u', ...wanted });
  });

  it.each([
    ['0', '1'],
    ['3', '3'],
  ])('makes the shells of Codex read BASH_ENV, from level %s', (before, after) => {
    expect(agentEnvironment('codex', { ...USER, SHLVL: before }, files).SHLVL).toBe(after);
  });

  it('changes nothing that an agent does not look at', () => {
    const { CLAUDE_CODE_SHELL: _, ...rest } = agentEnvironment('claude', USER, files);
    expect(rest).toEqual(USER);
  });

  it('gives zsh to a user of zsh', () => {
    const env = agentEnvironment('aider', { ...USER, SHELL: '/usr/bin/zsh' }, files);
    expect(env.SHELL).toBe('/state/shells/zsh');
  });

  it.each(['copilot', 'cursor', 'vim'])('refuses %s, whose shell cannot be chosen', (program) => {
    expect(() => agentEnvironment(program, USER, files)).toThrow('no agent whose shell');
  });
});

describe('the agent of a shell', () => {
  it.each([
    [
      { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 's' },
      { agent: 'claude', session: 's' },
    ],
    [
      { CODEX_THREAD_ID: 't', CODEX_TOOL_CALL_ID: 'c' },
      { agent: 'codex', session: 't', toolCall: 'c' },
    ],
    [
      { CODEX_THREAD_ID: 'subagent', CODEX_SESSION_ID: 's', CODEX_TOOL_CALL_ID: 'c' },
      { agent: 'codex', session: 's', toolCall: 'c' },
    ],
    [
      { CLAUDECODE: '1', CODEX_TOOL_CALL_ID: 'c' },
      { agent: 'codex', session: null },
    ],
    [{ GEMINI_CLI: '1' }, { agent: 'gemini', session: null }],
    [
      { AI_AGENT: 'pi', PI_SESSION_ID: 'p' },
      { agent: 'pi', session: 'p' },
    ],
    [{ OPENCODE: '1', AGENT: '1' }, { agent: 'opencode' }],
    [{ CUFF_AGENT: 'goose' }, { agent: 'goose' }],
  ])('%j', (env, wanted) => {
    expect(agentCall(env)).toMatchObject(wanted);
  });

  it.each([{}, { AGENT: '1' }, { CUFF_AGENT: 'x' }, { CLAUDECODE: '1', AI_AGENT: 'c_harness' }])(
    '%j is none',
    (env) => {
      expect(agentCall(env)).toBeUndefined();
    },
  );
});
