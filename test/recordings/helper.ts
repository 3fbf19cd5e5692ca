// A journal with chosen sessions, and `cuff record` as a real child process in front of it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { decodeEntry, encodeEntry, encodeMetadata } from '../../src/journal/entry.ts';
import { metadataOf, Tally } from '../../src/journal/metadata.ts';
import { createShell } from '../../src/shell/shell.ts';
import type { Entry, SessionMetadata } from '../../src/types.ts';
import { binary, Cli, type Live, type Result } from '../cli/helper.ts';
import { trusted } from '../trust.ts';

export type EntryFacts = Partial<Entry> & { readonly command: string };

export type SessionFacts = {
  readonly entries: readonly EntryFacts[];
  readonly metadata?: Partial<SessionMetadata>;
  /** When it was last used, for its files, too. */
  readonly lastUsed?: string;
};

/** One entry, whole; what is not said is what a quiet, successful command leaves. */
export function entryOf(sessionId: string, sequence: number, facts: EntryFacts): Entry {
  const digits = /^\d{8}_\d{6}/.exec(sessionId)?.[0] ?? '20260118_143052';
  return {
    entry_id: `e_${digits}_${String(sequence).padStart(3, '0')}`,
    session_id: sessionId,
    sequence_number: sequence,
    timestamp: `${isoOf(digits)}.000000Z`,
    duration_ms: 10,
    description: null,
    working_directory: '/srv/project',
    shell: '/bin/bash',
    timeout_seconds: 120,
    timed_out: false,
    exit_code: 0,
    stdout: '',
    stderr: '',
    output_truncated: false,
    output_truncated_bytes: null,
    environment: null,
    agent_id: null,
    conversation_id: null,
    tool_call_id: null,
    opencuff_version: '0.1.0',
    plugin_version: '1.0.0',
    run_id: null,
    end_reason: facts.timed_out ? 'timeout' : 'itself',
    signal: null,
    trace_id: null,
    context_source: null,
    processes: null,
    failed_processes: null,
    process_list: null,
    failed_process_list: null,
    decision: null,
    ...facts,
  };
}

function isoOf(digits: string): string {
  return digits.replace(/(....)(..)(..)_(..)(..)(..)/, '$1-$2-$3T$4:$5:$6');
}

export class Journal {
  readonly cli = new Cli();
  readonly project = mkdtempSync(join(tmpdir(), 'cuff-record-'));
  readonly directory = join(this.project, '.cuff', 'recordings');
  readonly sessions = join(this.directory, 'sessions');

  /** Writes a session as its recorder would have left it. */
  add(id: string, { entries, metadata = {} }: SessionFacts): readonly Entry[] {
    mkdirSync(this.sessions, { recursive: true, mode: 0o700 });
    const whole = entries.map((facts, i) => entryOf(id, i + 1, facts));
    const tally = new Tally();
    for (const entry of whole) tally.add(entry);
    const known = metadataOf(id, undefined, tally, 0);
    const stored = { ...known, status: 'complete', end_reason: null, ...metadata } as const;
    this.write(`${id}.jsonl`, whole.map(encodeEntry).join(''));
    this.write(`${id}.meta.json`, encodeMetadata(stored));
    // As it is stored: half a character is not.
    return whole.map((entry) => decodeEntry(encodeEntry(entry)) ?? entry);
  }

  /** Any text in the place of a session's file. */
  write(name: string, text: string | Uint8Array): void {
    mkdirSync(this.sessions, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.sessions, name), text, { mode: 0o600 });
  }

  path(name: string): string {
    return join(this.project, name);
  }

  /** Where this test's user keeps what he trusts. */
  get env(): Record<string, string> {
    return { XDG_CONFIG_HOME: join(this.cli.root, 'config') };
  }

  /** Settings that a person trusted. */
  settings(text: string, name = 'settings.yml', project = this.project): void {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
    trusted(project, this.env);
  }

  /** `env`: variables that are set for it, as `NAME=value`. */
  start(args: readonly string[], cwd = this.project, env: readonly string[] = []): Live {
    const enter = ['sh', '-c', 'cd "$0" && exec "$@"', cwd, 'env', ...env];
    const command = [...enter, process.execPath, binary('cuff'), 'record', ...args];
    return this.cli.start(command, { env: this.env });
  }

  /** `cuff record ...` in the project. */
  run(...args: readonly string[]): Promise<Result> {
    const live = this.start(args);
    live.child.stdin?.end();
    return live.result;
  }

  async json<T>(...args: readonly string[]): Promise<T> {
    const { out, err } = await this.run(...args);
    if (err !== '') throw new Error(err);
    return JSON.parse(out);
  }

  async close(): Promise<void> {
    await this.cli.close();
    rmSync(this.project, { recursive: true, force: true });
  }
}

const MINUTE = 60_000;

/** The three sessions of the samples of seed 000, with durations that come to what they show. */
export function addSamples(journal: Journal): void {
  journal.add('20260118_143052_a7b3c9d2-e4f5', {
    entries: [
      ...times(5, { command: 'git status', duration_ms: 1_523 }),
      ...times(3, { command: 'npm test', duration_ms: 40_000 }),
      ...times(2, { command: 'cat package.json', duration_ms: 12 }),
      {
        command: 'npm run build',
        processes: 4,
        failed_processes: 0,
        process_list: ['npm run build', "sh -c 'git push origin main'", 'git push origin main'],
        failed_process_list: [],
      },
      ...['ls -la', 'git diff', 'git add -A'].map((command) => ({ command })),
      { command: 'git push', exit_code: 1, duration_ms: 2 * MINUTE + 34_000 - 127_679 },
    ],
    metadata: { working_directory: '/Users/dev/myproject', agent_id: 'claude-code' },
  });
  journal.add('20260118_160315_b8c4d0e3-f6a7', {
    entries: times(8, { command: 'npm test', duration_ms: 9_000 }),
  });
  journal.add('20260118_171522_c9d5e1f4-e8b9', {
    entries: times(3, { command: 'make', duration_ms: 15_000 }),
    metadata: { status: 'active' },
  });
}

export function times(count: number, facts: EntryFacts): EntryFacts[] {
  return Array.from({ length: count }, () => facts);
}

export type AtTerminal = {
  /** Resolves with everything printed so far once that matches. */
  seen(pattern: RegExp): Promise<string>;
  type(text: string): void;
  /** Resolves with everything printed. */
  ended(): Promise<string>;
};

/** `cuff record ...` at a terminal, in the project. */
export function atTerminal(journal: Journal, ...args: readonly string[]): AtTerminal {
  const shell = createShell({ stateRoot: journal.cli.root, cwd: journal.project });
  const argv = [process.execPath, binary('cuff'), 'record', ...args];
  const options = { transport: 'pty', stdin: 'orders', env: { TERM: 'xterm' } } as const;
  const run = shell.start({ kind: 'argv', argv }, options);
  let text = '';
  let cursor = 0;
  const read = async (waitMs: number): Promise<boolean> => {
    const { chunks, nextCursor, final } = await shell.waitOutput(run.id, cursor, waitMs);
    text += chunks.map(({ bytes }) => Buffer.from(bytes).toString('utf8')).join('');
    cursor = nextCursor;
    return final;
  };
  return {
    async seen(pattern) {
      while (!pattern.test(text)) {
        const final = await read(20_000);
        if (final && !pattern.test(text)) throw new Error(`it ended without ${pattern}: ${text}`);
      }
      return text;
    },
    type: (words) => run.write(words),
    async ended() {
      while (!(await read(20_000)));
      await run.closed;
      shell.close();
      return text;
    },
  };
}
