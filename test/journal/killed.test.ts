// Servers that are killed while they write, and servers that write side by side: every entry that
// was acknowledged is there, no line is torn by another, and what is torn is skipped.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readIndex } from '../../src/journal/index-file.ts';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import { knownSessions, planRecovery } from '../../src/journal/recovery.ts';
import { resumeSession } from '../../src/journal/writer.ts';
import { compile } from '../capture/helper.ts';
import { draftOf, newJournal } from './helper.ts';

const DRAFT = JSON.stringify(draftOf());

/** Appends with `width` calls under way and prints each entry's id when it was acknowledged. */
function program(): string {
  return compile(`
    import { Sessions } from '../../src/journal/sessions.ts';
    const [directory, total, width] = process.argv.slice(2);
    const sessions = new Sessions({ directory, mode: 'continuous', workingDirectory: '/',
      owner: { pid: process.pid, startTime: 1 }, env: { now: Date.now } });
    const who = { agentId: null, conversationId: null, toolCallId: null, traceId: null };
    let next = 0;
    const work = async () => {
      while (next < Number(total)) {
        next += 1;
        const run_id = process.pid + '-' + next;
        const draft = { ...${DRAFT}, run_id, stdout: 'x'.repeat(next * 37 % 3000) };
        const entry = await sessions.writerFor(who).append(draft);
        process.stdout.write(entry.sequence_number + ' ' + run_id + '\\n');
      }
    };
    await Promise.all(Array.from({ length: Number(width) }, work));
    await sessions.closeAll('shutdown', 'server_stop');
  `);
}

type Server = {
  readonly child: ChildProcess;
  readonly acknowledged: string[];
  ended: Promise<unknown>;
};

function start(file: string, directory: string, total: number, width: number): Server {
  const child = spawn(process.execPath, [file, directory, String(total), String(width)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const acknowledged: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => acknowledged.push(line));
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]);
  return { child, acknowledged, ended };
}

async function until(server: Server, count: number): Promise<void> {
  while (server.acknowledged.length < count) {
    if (server.child.exitCode !== null) throw new Error('it ended before');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** `sequence run_id` of every entry of a session. */
function found(directory: string, id: string): string[] {
  const entries = readSession(directory, id)?.entries ?? [];
  return entries.map(({ sequence_number, run_id }) => `${sequence_number} ${run_id}`);
}

describe('a server that is killed', () => {
  it('has every entry it acknowledged, at twelve different moments', async () => {
    const file = program();
    const directory = newJournal();
    const everything: string[] = [];
    for (let round = 1; round <= 12; round += 1) {
      const server = start(file, directory, 1_000_000, 8);
      await until(server, round * 23);
      server.child.kill('SIGKILL');
      await server.ended;
      everything.push(...server.acknowledged);
      const all = journalSessionIds(directory).flatMap((id) => found(directory, id));
      const lost = everything.filter((line) => !all.includes(line));
      expect([round, lost]).toEqual([round, []]);
    }
    const ids = journalSessionIds(directory);
    expect(ids).toHaveLength(12);
    for (const id of ids) {
      const session = readSession(directory, id);
      expect(session?.metadata.status).toBe('active');
      expect(session?.entries.map((one) => one.sequence_number)).toEqual(
        Array.from({ length: session?.entries.length ?? 0 }, (_, n) => n + 1),
      );
    }
    // And the next server finds them, and ends what they could not end.
    const env = { now: Date.now };
    const sessions = await knownSessions(directory, [], () => false);
    for (const plan of planRecovery({ directory, sessions, intents: [] })) {
      await resumeSession(directory, plan.sessionId, env).finalize('interrupted', 'owner_died');
    }
    const rows = Object.values(readIndex(directory, env).sessions);
    expect(rows.map(({ status }) => status)).toEqual(Array(12).fill('interrupted'));
    const counted = rows.reduce((sum, { entry_count }) => sum + entry_count, 0);
    expect(counted).toBeGreaterThanOrEqual(everything.length);
  });

  it('in the middle of a line spoils neither the lines before nor those after it', async () => {
    const directory = newJournal();
    const server = start(program(), directory, 40, 4);
    await server.ended;
    const [id = ''] = journalSessionIds(directory);
    const path = join(directory, 'sessions', `${id}.jsonl`);
    const whole = fs.readFileSync(path);
    const lines = found(directory, id);
    // As a killed server leaves it: it counts no line that is not whole.
    const metadata = join(directory, 'sessions', `${id}.meta.json`);
    const stored = JSON.parse(fs.readFileSync(metadata, 'utf8'));
    const begun = JSON.stringify({ ...stored, status: 'active', entry_count: 0 });
    for (let cut = whole.length - 1; cut > whole.length - 1200; cut -= 97) {
      fs.writeFileSync(path, whole.subarray(0, cut));
      fs.writeFileSync(metadata, begun);
      // Without its newline a line does not count; with one it does, if nothing else is missing.
      const kept = found(directory, id);
      const [next = ''] = lines.slice(kept.length);
      const regained = cut === whole.length - 1 ? [...kept, next] : kept;
      expect(kept).toEqual(lines.slice(0, kept.length));
      const writer = resumeSession(directory, id, { now: Date.now });
      const entry = await writer.append(draftOf({ run_id: 'after' }));
      await writer.append(draftOf({ run_id: next.split(' ')[1] ?? '' }));
      await writer.finalize('interrupted', 'owner_died');
      expect(entry.sequence_number).toBe(regained.length + 1);
      const [torn] = regained === kept ? [`${kept.length + 2} ${next.split(' ')[1]}`] : [];
      const added = [`${entry.sequence_number} after`, ...(torn === undefined ? [] : [torn])];
      expect(found(directory, id)).toEqual([...regained, ...added]);
    }
  });
});

describe('two servers on one journal', () => {
  it('with 10,000 entries each share no file and tear no line', async () => {
    const file = program();
    const directory = newJournal();
    const servers = [1, 2].map(() => start(file, directory, 10_000, 16));
    await Promise.all(servers.map(({ ended }) => ended));
    const ids = journalSessionIds(directory);
    expect(ids).toHaveLength(2);
    for (const id of ids) {
      const session = readSession(directory, id);
      expect(session).toMatchObject({
        damagedLines: 0,
        metadata: { status: 'shutdown', entry_count: 10_000 },
      });
      expect(session?.entries.map((one) => one.sequence_number)).toEqual(
        Array.from({ length: 10_000 }, (_, n) => n + 1),
      );
      expect(new Set(session?.entries.map(({ session_id }) => session_id))).toEqual(new Set([id]));
    }
    const all = ids.flatMap((id) => found(directory, id)).sort();
    expect(all).toEqual(servers.flatMap(({ acknowledged }) => acknowledged).sort());
    const index = readIndex(directory, { now: Date.now });
    expect(index).toMatchObject({ total_sessions: 2, total_entries: 20_000 });
  });
});
