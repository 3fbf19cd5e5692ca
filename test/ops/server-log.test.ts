// The log of a server: the four lines of the seed to the letter, JSON in a file of its own, levels,
// rotation, and no secret anywhere.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openServerLog, type ServerLog, textLine } from '../../src/ops/server-log.ts';

const SESSION = '20260118_143052_a7b3c9d2-e4f5';
const plugin = 'bash_recorder';

type Opened = ServerLog & { readonly root: string; readonly shown: string[] };

function opened(env: Readonly<Record<string, string>> = {}): Opened {
  const root = fs.mkdtempSync(join(tmpdir(), 'cuff-log-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  const shown: string[] = [];
  const now = (): number => Date.UTC(2026, 0, 18, 14, 30, 52, 123);
  const log = openServerLog({ stateRoot: root, env, stderr: (text) => shown.push(text), now });
  onTestFinished(() => log.close());
  return { ...log, root, shown };
}

function lines({ root, flush }: Opened): Record<string, unknown>[] {
  flush();
  const text = fs.readFileSync(join(root, 'logs', 'cuff.log'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('the text of a log line', () => {
  it('is that of the four examples', () => {
    const session_id = SESSION;
    const started = { plugin, session_id, working_directory: '/Users/dev/myproject' };
    expect(textLine('info', 'Session started', started)).toBe(
      'INFO  bash_recorder: Session started ' +
        `session_id=${SESSION} working_directory=/Users/dev/myproject`,
    );
    const executed = { plugin, session_id, entry_id: 'e_001', command_hash: 'sha256:abc123' };
    expect(
      textLine('debug', 'Command executed', { ...executed, duration_ms: 1523, exit_code: 0 }),
    ).toBe(
      'DEBUG bash_recorder: Command executed ' +
        'entry_id=e_001 command_hash=sha256:abc123 duration_ms=1523 exit_code=0',
    );
    const failed = { plugin, session_id, error: 'disk full', degraded: true };
    expect(textLine('warn', 'Recording write failed', failed)).toBe(
      'WARN  bash_recorder: Recording write failed ' +
        `session_id=${SESSION} error="disk full" degraded=true`,
    );
    const ended = { plugin, session_id, entry_count: 15, total_duration_ms: 45000 };
    expect(textLine('info', 'Session finalized', { ...ended, status: 'complete' })).toBe(
      'INFO  bash_recorder: Session finalized ' +
        `session_id=${SESSION} entry_count=15 total_duration_ms=45000 status=complete`,
    );
  });

  it('shows nothing that a terminal would obey or take for another line', () => {
    const fields = { plugin, working_directory: '/a b\n\u001b[31mERROR x: y\u202e', error: 'a=b' };
    expect(textLine('warn', 'One\nTwo', fields)).toBe(
      'WARN  bash_recorder: One\\nTwo ' +
        'working_directory="/a b\\\\n\\\\x1b[31mERROR x: y\\\\u{202e}" error="a=b"',
    );
  });

  it('leaves out what is not there, and names the house when no plugin speaks', () => {
    expect(textLine('error', 'No', { trace_id: undefined, entry_id: null, n: '' })).toBe(
      'ERROR cuff: No n=""',
    );
  });
});

describe('the log of a server', () => {
  it('keeps every message as JSON with its fields', () => {
    const log = opened();
    log.log('debug', 'Command executed', {
      plugin,
      session_id: SESSION,
      entry_id: 'e_20260118_143052_001',
      trace_id: 'abc123',
    });
    expect(lines(log)).toEqual([
      {
        level: 'debug',
        timestamp: '2026-01-18T14:30:52.123Z',
        plugin: 'bash_recorder',
        session_id: SESSION,
        entry_id: 'e_20260118_143052_001',
        trace_id: 'abc123',
        message: 'Command executed',
      },
    ]);
  });

  it('is only for its owner', () => {
    const log = opened();
    log.log('info', 'x');
    log.flush();
    expect(fs.statSync(join(log.root, 'logs', 'cuff.log')).mode & 0o777).toBe(0o600);
    expect(fs.statSync(join(log.root, 'logs')).mode & 0o777).toBe(0o700);
  });

  it('shows warnings on stderr, or what CUFF_LOG_LEVEL asks for', () => {
    const all = (log: Opened): string => {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) log.log(level, level);
      return log.shown.map((line) => line.slice(0, 5).trim()).join(' ');
    };
    expect(all(opened())).toBe('WARN ERROR');
    expect(all(opened({ CUFF_LOG_LEVEL: 'DEBUG' }))).toBe('DEBUG INFO WARN ERROR');
    expect(all(opened({ CUFF_LOG_LEVEL: 'error' }))).toBe('ERROR');
    expect(all(opened({ CUFF_LOG_LEVEL: 'loud' }))).toBe('WARN ERROR');
  });

  it('holds no secret of the environment, in the file or on stderr', () => {
    const log = opened({ DEPLOY_TOKEN: 'hunter2-hunter2', CUFF_LOG_LEVEL: 'debug' });
    log.log('warn', 'with hunter2-hunter2', { error: 'is hunter2-hunter2', status: 1 });
    log.flush();
    const file = fs.readFileSync(join(log.root, 'logs', 'cuff.log'), 'utf8');
    expect(`${file}${log.shown.join('')}`).not.toContain('hunter2');
    expect(log.shown).toEqual([
      'WARN  cuff: with [REDACTED:DEPLOY_TOKEN] error="is [REDACTED:DEPLOY_TOKEN]" status=1\n',
    ]);
  });

  it('begins a new file when the old one is large', () => {
    const log = opened();
    const error = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < 5; i += 1) {
      log.log('info', `big ${i}`, { error });
      log.flush();
    }
    log.log('info', 'small');
    expect(lines(log).map(({ message }) => message)).toEqual(['big 4', 'small']);
    expect(fs.statSync(join(log.root, 'logs', 'cuff.log.1')).size).toBeGreaterThan(4 * 2 ** 20);
  });

  it('stops nobody when it cannot be written', () => {
    const log = opened();
    fs.writeFileSync(join(log.root, 'logs'), 'a file in its way');
    log.log('warn', 'goes on');
    log.flush();
    expect(log.shown).toEqual(['WARN  cuff: goes on\n']);
  });
});
