// The real transcripts that lie beside the repository, and every fact that is read from them.
import { describe, expect, it } from 'vitest';
import { claudeFacts } from '../../../src/recordings/transcripts/claude.ts';
import { clineFacts } from '../../../src/recordings/transcripts/cline.ts';
import { codexFacts } from '../../../src/recordings/transcripts/codex.ts';
import { copilotFacts } from '../../../src/recordings/transcripts/copilot.ts';
import { geminiFacts } from '../../../src/recordings/transcripts/gemini.ts';
import { opencodeFacts, partRecord } from '../../../src/recordings/transcripts/opencode.ts';
import { piFacts } from '../../../src/recordings/transcripts/pi.ts';
import { qwenFacts } from '../../../src/recordings/transcripts/qwen.ts';
import { lacking } from '../../requirements.ts';
import { facts, linesOf, NO_SAMPLES, sample, sampleText } from './helper.ts';

const SCRIPT = 'echo out; echo err >&2; exit 3';

/** Long outputs are compared by their first line and their length. */
function shortened(found: ReturnType<typeof facts>) {
  return found.map((fact) => {
    if (fact.kind !== 'call' || (fact.call.output ?? '').length < 60) return fact;
    const output = fact.call.output ?? '';
    return { kind: 'call', call: { ...fact.call, output: [output.split('\n')[0], output.length] } };
  });
}

describe.skipIf(lacking(NO_SAMPLES, 'there are no samples'))('the facts of a sample', () => {
  const claude = {
    agent: 'claude',
    session: 'd44028a0-b5a2-4936-880a-3a57056a3d5b',
    cwd: '/tmp/x/t/proj',
    truncated: false,
    decidedBy: 'config',
  };

  it('Claude: exit codes, and who decided', () => {
    const common = claude;
    expect(facts(claudeFacts, sample('claude-2.1.325.jsonl')).slice(0, 3)).toEqual([
      {
        kind: 'call',
        call: {
          ...common,
          call: 'toolu_stub0',
          command: 'echo "hi $((1+1))" \'sq\' | cat; echo err >&2',
          description: 'stub command 0',
          startedAt: Date.parse('2026-11-17T08:52:38.478Z'),
          durationMs: 647,
          exitCode: 0,
          output: 'hi 2 sq\nerr',
          end: 'itself',
          line: 1,
        },
      },
      {
        kind: 'call',
        call: {
          ...common,
          call: 'toolu_stub1',
          command: 'cd /tmp && false; (exit 3)',
          description: 'stub command 1',
          startedAt: Date.parse('2026-11-17T08:52:39.156Z'),
          durationMs: 433,
          exitCode: 3,
          output: '',
          end: 'itself',
          line: 3,
        },
      },
      {
        kind: 'call',
        call: {
          ...common,
          call: 'toolu_stub2',
          command: 'grep nomatch /etc/hostname',
          description: 'stub command 2',
          startedAt: Date.parse('2026-11-17T08:52:39.604Z'),
          durationMs: 478,
          exitCode: null, // Claude says what it means, not which it was
          output: '',
          end: 'itself',
          line: 5,
        },
      },
    ]);
  });

  it('Claude: a denied call', () => {
    const reason =
      'This command uses the `&` background operator, which defers execution past approval-time ' +
      'safety checks. Approve only if you trust it.';
    expect(facts(claudeFacts, sample('claude-2.1.325.jsonl')).slice(3)).toEqual([
      {
        kind: 'call',
        call: {
          ...claude,
          call: 'toolu_stub3',
          command: 'sleep 0.1 & echo bg',
          description: 'stub command 3',
          startedAt: Date.parse('2026-11-17T08:52:40.109Z'),
          durationMs: 185,
          exitCode: null,
          output: null,
          end: 'denied',
          denied: reason,
          line: 7,
        },
      },
    ]);
  });

  it('Codex: the item of an execution, not the text for the model', () => {
    const common = {
      agent: 'codex',
      session: '01a1e8b9-80f1-78c1-b130-ac37e655c895',
      description: null,
      cwd: '/tmp/x/t/proj',
      truncated: false,
      end: 'itself',
    };
    const found = facts(codexFacts, sample('codex-0.166.0-rollout.jsonl'));
    expect(shortened(found)).toEqual([
      { kind: 'place', session: common.session, cwd: '/tmp/x/t/proj' },
      {
        kind: 'call',
        call: {
          ...common,
          call: 'call_stub0',
          command: SCRIPT,
          startedAt: 1_794_905_834_246,
          durationMs: 68,
          exitCode: 3,
          output: 'out\nerr\n',
          line: 2,
        },
      },
      {
        kind: 'call',
        call: {
          ...common,
          call: 'call_stub1',
          command:
            'printf "%s\\n" "a b" $0; bash -c "echo nested"; ' +
            'env | grep -E "^CODEX|BASH_ENV|CUFF|^SHELL="; ls -l /proc/self/fd | tail -5; ' +
            'ps -o pid,ppid,pgid,sid,tty -p $$',
          startedAt: 1_794_905_834_507,
          durationMs: 32,
          exitCode: 0,
          output: ['a b', 806],
          line: 5,
        },
      },
    ]);
  });

  it('Codex in code mode: what the script ran, not the script', () => {
    expect(facts(codexFacts, sample('codex-0.166.0-code-mode-rollout.jsonl'))).toEqual([
      {
        kind: 'call',
        call: {
          agent: 'codex',
          session: 'file',
          call: 'exec-f05b894f-1948-48c2-bd15-cf2c2419b329',
          command: 'echo out; exit 3',
          description: null,
          cwd: '/tmp/x/t/proj',
          startedAt: 1_794_907_650_535,
          durationMs: 0,
          exitCode: 3,
          output: 'out\n',
          truncated: false,
          end: 'itself',
          line: 2,
        },
      },
    ]);
  });

  it('Gemini: a code that it names, and none for 0', () => {
    const common = {
      agent: 'gemini',
      session: '7113aef6-ea25-49d6-a2cd-ba140efd0198',
      description: 'd',
      cwd: null,
      truncated: false,
      end: 'itself',
    };
    expect(shortened(facts(geminiFacts, sample('gemini-0.61.0-session.jsonl')))).toEqual([
      {
        kind: 'call',
        call: {
          ...common,
          call: 'run_shell_command__run_shell_command_1794906040108_0',
          command: SCRIPT,
          startedAt: Date.parse('2026-11-17T09:00:40.283Z'),
          durationMs: 953,
          exitCode: 3,
          output: 'out\nerr',
          line: 2,
        },
      },
      {
        kind: 'call',
        call: {
          ...common,
          call: 'run_shell_command__run_shell_command_1794906041252_0',
          command:
            'ps -o pid,ppid,pgid,sid,tty -p $$; ls -l /proc/self/fd | tail -5; ' +
            'env | grep -E "GEMINI|^TERM|PAGER|GIT_CONFIG_COUNT" | head',
          startedAt: Date.parse('2026-11-17T09:00:41.262Z'),
          durationMs: 858,
          exitCode: 0,
          output: ['PID  PPID  PGID   SID TT', 716],
          line: 3,
        },
      },
    ]);
  });

  it('Qwen: codes as numbers', () => {
    const common = {
      agent: 'qwen',
      session: '32e628b8-7635-45e4-a537-cd2547c0b5fc',
      description: 'd',
      cwd: '/tmp/x/t/proj',
      truncated: false,
      end: 'itself',
    };
    expect(shortened(facts(qwenFacts, sample('qwen-0.24.4.jsonl')))).toEqual([
      {
        kind: 'call',
        call: {
          ...common,
          call: 'call_stub0',
          command: SCRIPT,
          startedAt: Date.parse('2026-11-17T09:13:28.480Z'),
          durationMs: 3288,
          exitCode: 3,
          output: 'out\nerr',
          line: 1,
        },
      },
      {
        kind: 'call',
        call: {
          ...common,
          call: 'call_stub1',
          command: 'env | grep -E "QWEN|AGENT" | head -5',
          startedAt: Date.parse('2026-11-17T09:13:32.442Z'),
          durationMs: 2719,
          exitCode: 0,
          output: ['QWEN_CODE_MANAGED_NPM_ROOT=/tmp/x/t/home-qw-qw1/.qwen/updates/npm', 278],
          line: 3,
        },
      },
    ]);
  });

  it('OpenCode: a row of its database', () => {
    const { session, part } = JSON.parse(sampleText('opencode-1.18.33-rows.json'));
    const [{ id, directory }] = session;
    const lines = linesOf([partRecord(part[0].data, id, directory)]);
    expect(facts(opencodeFacts, lines)).toEqual([
      {
        kind: 'call',
        call: {
          agent: 'opencode',
          session: 'ses_e173e0e96ffe0kWn0ynzMWQhv5',
          call: 'call_stub0',
          command: 'echo hi; echo err >&2; exit 3',
          description: 'd',
          cwd: '/tmp/x/t/proj',
          startedAt: 1_794_906_396_800,
          durationMs: 821,
          exitCode: 3,
          output: 'hi\nerr\n',
          truncated: false,
          end: 'itself',
          line: 1,
        },
      },
    ]);
  });

  it('Copilot: a run and a denial', () => {
    const common = {
      agent: 'copilot',
      session: 'c39d7062-d32c-48d2-bda1-2542f04567f6',
      cwd: '/tmp/x/t/proj',
      truncated: false,
    };
    expect(facts(copilotFacts, sample('copilot-1.0.102-events.jsonl'))).toEqual([
      {
        kind: 'call',
        call: {
          ...common,
          call: 'toolu_stub0',
          command: 'echo out; echo err >&2; (exit 3)',
          description: 'stub command 0',
          startedAt: Date.parse('2026-11-17T09:08:21.509Z'),
          durationMs: 443,
          exitCode: 3,
          output: 'out\nerr',
          end: 'itself',
          line: 2,
        },
      },
      {
        kind: 'call',
        call: {
          ...common,
          call: 'toolu_stub1',
          command:
            'env | grep -E "COPILOT|AGENT|GITHUB" | grep -v KEY; ' +
            'ls -l /proc/self/fd | tail -5; ps -o pid,ppid,pgid,sid,tty,args -p $$',
          description: 'stub command 1',
          startedAt: Date.parse('2026-11-17T09:08:22.001Z'),
          durationMs: 190,
          exitCode: null,
          output: null,
          end: 'denied',
          denied:
            'Permission denied because no interactive user response was available. Retry in an ' +
            'interactive session so the user can approve it, or try an alternative that does not ' +
            'require this permission.',
          line: 4,
        },
      },
    ]);
  });

  it('pi: the last line of an error, and 0 for what is none', () => {
    const common = {
      agent: 'pi',
      session: '01a1e8c7-aab1-77cf-96c1-5f7949f65266',
      description: 'd',
      cwd: '/tmp/x/t/proj',
      truncated: false,
      end: 'itself',
    };
    expect(shortened(facts(piFacts, sample('pi-1.5.0.jsonl')))).toEqual([
      {
        kind: 'call',
        call: {
          ...common,
          call: 'call_stub0',
          command: SCRIPT,
          startedAt: Date.parse('2026-11-17T09:12:42.654Z'),
          durationMs: 527,
          exitCode: 3,
          output: 'out\nerr\n',
          line: 2,
        },
      },
      {
        kind: 'call',
        call: {
          ...common,
          call: 'call_stub1',
          command:
            'env | grep -E "^PI_"; ls -l /proc/self/fd | tail -4; ps -o pid,ppid,pgid,sid -p $$',
          startedAt: Date.parse('2026-11-17T09:12:43.297Z'),
          durationMs: 525,
          exitCode: 0,
          output: ['PI_CODING_AGENT=true', 555],
          line: 4,
        },
      },
    ]);
  });

  it('Cline: as its hooks have it', () => {
    const common = {
      agent: 'cline',
      session: '1794906908969_yo36s',
      call: 'call_stub0',
      command: SCRIPT,
      description: null,
      cwd: '/tmp/x/t/proj',
      exitCode: 3,
      output: 'out\n\n[stderr]\nerr\n',
      truncated: false,
      end: 'itself',
    };
    expect(facts(clineFacts, sample('hook-stdin-cline.jsonl'))).toEqual([
      { kind: 'call', call: { ...common, startedAt: 1_794_906_913_281, durationMs: 83, line: 2 } },
      { kind: 'call', call: { ...common, startedAt: 1_794_906_990_952, durationMs: 24, line: 6 } },
    ]);
  });
});
