// Which session an entry goes to, and when sessions end.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import { type SessionMode, Sessions } from '../../src/journal/sessions.ts';
import type { AgentContext, SessionMetadata } from '../../src/types.ts';
import {
  contextOf,
  draftOf,
  NOBODY,
  newJournal,
  OWNER,
  textOf,
  type World,
  world,
} from './helper.ts';

type Server = { directory: string; env: World; sessions: Sessions };

function server(mode: SessionMode, changed?: (metadata: SessionMetadata) => void): Server {
  const directory = newJournal();
  const env = world();
  const options = { directory, mode, workingDirectory: '/projects/demo', owner: OWNER, env };
  const sessions = new Sessions({ ...options, ...(changed !== undefined && { changed }) });
  return { directory, env, sessions };
}

const talk = (conversationId: string): AgentContext => contextOf({ conversationId, agentId: 'a' });
const metadataOf = ({ directory }: Server, id: string) => readSession(directory, id)?.metadata;

const HOUR = 3_600_000;
const zone = process.env.TZ;

beforeEach(() => {
  process.env.TZ = 'UTC';
});

afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

describe('per_conversation', () => {
  it('has one session for each conversation', async () => {
    const made = server('per_conversation');
    const [a, b] = [made.sessions.writerFor(talk('a')), made.sessions.writerFor(talk('b'))];
    expect(a.id).not.toBe(b.id);
    expect(made.sessions.writerFor(talk('a'))).toBe(a);
    made.env.pass(30 * HOUR - 1);
    await Promise.all([a.append(draftOf()), b.append(draftOf())]);
    expect(made.sessions.active()).toEqual([a, b]);
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(metadataOf(made, a.id)).toMatchObject({ conversation_id: 'a', agent_id: 'a' });
    expect(metadataOf(made, b.id)).toMatchObject({ conversation_id: 'b', entry_count: 1 });
  });

  it('goes by the day for calls that name no conversation', async () => {
    const made = server('per_conversation');
    const first = made.sessions.writerFor(NOBODY);
    expect(made.sessions.writerFor(contextOf({ agentId: 'x' }))).toBe(first);
    expect(made.sessions.writerFor(talk('a'))).not.toBe(first);
    await first.append(draftOf());
    made.env.pass(24 * HOUR);
    expect(made.sessions.writerFor(NOBODY)).not.toBe(first);
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(metadataOf(made, first.id)).toMatchObject({
      status: 'complete',
      end_reason: 'day_change',
    });
  });

  it('lets the first conversation have the session the server began with', async () => {
    const made = server('per_conversation');
    const begun = made.sessions.start();
    expect(made.sessions.start()).toBe(begun);
    expect(made.sessions.writerFor(talk('a'))).toBe(begun);
    const other = made.sessions.writerFor(talk('b'));
    expect(other).not.toBe(begun);
    expect(made.sessions.writerFor(NOBODY)).not.toBe(begun);
    await Promise.all(made.sessions.active().map((writer) => writer.append(draftOf())));
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(metadataOf(made, begun.id)).toMatchObject({ conversation_id: 'a', agent_id: 'a' });
    expect(journalSessionIds(made.directory)).toHaveLength(3);
  });

  it('keeps the session the server began with for calls without a conversation', () => {
    const made = server('per_conversation');
    const begun = made.sessions.start();
    expect(made.sessions.writerFor(NOBODY)).toBe(begun);
    expect(made.sessions.writerFor(talk('a'))).not.toBe(begun);
  });

  it('takes the agent of the first entry, and of no later one', async () => {
    const made = server('per_conversation');
    const begun = made.sessions.start();
    expect(begun.metadata.agent_id).toBeNull();
    await begun.append(draftOf({ agent_id: 'claude-code' }));
    await begun.append(draftOf({ agent_id: 'codex' }));
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(metadataOf(made, begun.id)).toMatchObject({ agent_id: 'claude-code', entry_count: 2 });
  });

  it('ends a conversation that was silent for a day, when another begins', async () => {
    const made = server('per_conversation');
    const [silent, busy] = [made.sessions.writerFor(talk('a')), made.sessions.writerFor(talk('b'))];
    await silent.append(draftOf());
    made.env.pass(20 * HOUR);
    made.sessions.writerFor(talk('b'));
    made.env.pass(20 * HOUR);
    const third = made.sessions.writerFor(talk('c'));
    expect(made.sessions.active()).toEqual([busy, third]);
    expect(made.sessions.writerFor(talk('a')).id).not.toBe(silent.id);
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(metadataOf(made, silent.id)).toMatchObject({
      status: 'complete',
      end_reason: 'silence',
    });
  });
});

describe('per_day', () => {
  it('has one session for each calendar day, whoever asks', async () => {
    const made = server('per_day');
    const first = made.sessions.writerFor(talk('a'));
    first.expect();
    expect(made.sessions.writerFor(talk('b'))).toBe(first);
    made.env.time = Date.parse('2026-01-18T23:59:59.999Z');
    expect(made.sessions.writerFor(NOBODY)).toBe(first);
    made.env.time += 1;
    const second = made.sessions.writerFor(talk('a'));
    expect(second).not.toBe(first);
    expect(second.id).toMatch(/^20260119_000000_/);
    expect(made.sessions.active()).toEqual([second]);
    // A command that began before midnight has its entry where it was announced.
    await first.append(draftOf());
    await second.append(draftOf());
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(metadataOf(made, first.id)).toMatchObject({
      status: 'complete',
      end_reason: 'day_change, late entries',
      entry_count: 1,
    });
    expect(metadataOf(made, second.id)).toMatchObject({ status: 'shutdown', entry_count: 1 });
  });

  it('goes by the calendar where the server is', () => {
    process.env.TZ = 'Asia/Tokyo'; // nine hours ahead
    const made = server('per_day');
    made.env.time = Date.parse('2026-01-18T14:59:00Z');
    const first = made.sessions.writerFor(NOBODY);
    made.env.time = Date.parse('2026-01-18T15:00:00Z');
    expect(made.sessions.writerFor(NOBODY)).not.toBe(first);
  });

  it('with a clock that goes back to yesterday has a session for that, too', async () => {
    const made = server('per_day');
    const first = made.sessions.writerFor(NOBODY);
    await first.append(draftOf());
    made.env.time -= 24 * HOUR;
    const second = made.sessions.writerFor(NOBODY);
    expect(second.id).toMatch(/^20260117_/);
    await second.append(draftOf());
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(metadataOf(made, first.id)?.status).toBe('complete');
    expect(metadataOf(made, second.id)).toMatchObject({ status: 'shutdown', entry_count: 1 });
  });

  it('does not give the session of yesterday to today, though nobody used it', async () => {
    const made = server('per_day');
    const begun = made.sessions.start();
    made.env.pass(24 * HOUR);
    expect(made.sessions.writerFor(NOBODY)).not.toBe(begun);
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(metadataOf(made, begun.id)).toBeUndefined(); // nothing was recorded in it
  });
});

describe('continuous', () => {
  it('has one session until the server ends, and another for the next server', async () => {
    const made = server('continuous');
    const first = made.sessions.writerFor(talk('a'));
    made.env.pass(500 * HOUR);
    expect(made.sessions.writerFor(talk('b'))).toBe(first);
    expect(made.sessions.writerFor(NOBODY)).toBe(first);
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(made.sessions.writerFor(NOBODY)).not.toBe(first);
  });
});

describe('closing', () => {
  it('leaves no files of sessions without entries, and keeps those that expect one', async () => {
    const made = server('per_conversation');
    const begun = made.sessions.start();
    const failed = made.sessions.writerFor(talk('a'));
    const going = made.sessions.writerFor(talk('b'));
    going.expect();
    expect(journalSessionIds(made.directory)).toEqual([begun.id, going.id].sort());
    expect(failed).toBe(begun);
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(fs.readdirSync(join(made.directory, 'sessions')).sort()).toEqual([
      `${going.id}.jsonl`,
      `${going.id}.meta.json`,
    ]);
    expect(JSON.parse(textOf(made.directory, 'index.json'))).toMatchObject({ total_sessions: 1 });
    expect(metadataOf(made, going.id)).toMatchObject({
      status: 'shutdown',
      end_reason: 'server_stop, late entries',
    });
  });

  it('at once writes finished entries and ends before it returns', async () => {
    const made = server('per_conversation');
    const [a, b] = [made.sessions.writerFor(talk('a')), made.sessions.writerFor(talk('b'))];
    b.expect();
    await b.append(draftOf());
    const waiting = [a.append(draftOf()), a.append(draftOf({ exit_code: 1 }))];
    made.sessions.endNow('shutdown', 'shutdown');
    // As a process that was killed now would leave it.
    expect(readSession(made.directory, a.id)).toMatchObject({
      metadata: { status: 'shutdown', end_reason: 'shutdown', entry_count: 2, commands_failed: 1 },
      entries: [{ sequence_number: 1 }, { sequence_number: 2 }],
      damagedLines: 0,
    });
    expect(metadataOf(made, b.id)).toMatchObject({
      status: 'shutdown',
      end_reason: 'shutdown, late entries',
    });
    await Promise.all(waiting);
    await b.append(draftOf({ command: 'later' }));
    b.arrived();
    await made.sessions.closeAll('shutdown', 'shutdown');
    for (const { id } of [a, b]) {
      expect(JSON.parse(textOf(made.directory, `sessions/${id}.meta.json`))).toMatchObject({
        status: 'shutdown',
        end_reason: 'shutdown',
        entry_count: 2,
      });
    }
  });

  it('ends every session and writes the index', async () => {
    const told: string[] = [];
    const made = server('per_conversation', ({ status }) => told.push(status));
    const ids = ['a', 'b', 'c'].map((name) => made.sessions.writerFor(talk(name)).id);
    const appends = made.sessions.active().map((writer) => writer.append(draftOf()));
    await made.sessions.closeAll('shutdown', 'server_stop');
    await Promise.all(appends);
    for (const id of ids) {
      expect(JSON.parse(textOf(made.directory, `sessions/${id}.meta.json`))).toMatchObject({
        status: 'shutdown',
        end_reason: 'server_stop',
        entry_count: 1,
      });
    }
    expect(JSON.parse(textOf(made.directory, 'index.json'))).toMatchObject({
      total_sessions: 3,
      total_entries: 3,
    });
    expect(told.filter((status) => status === 'shutdown')).toHaveLength(3);
    expect([made.sessions.active(), made.env.timers()]).toEqual([[], 0]);
  });

  it('of sessions whose directory is gone changes nothing', async () => {
    const made = server('continuous');
    made.sessions.writerFor(NOBODY);
    fs.rmSync(made.directory, { recursive: true });
    await made.sessions.closeAll('shutdown', 'server_stop');
    expect(fs.existsSync(made.directory)).toBe(false);
  });

  it('a listener that throws costs no entry', async () => {
    const made = server('continuous', () => {
      throw new Error('a full disk elsewhere');
    });
    await made.sessions.writerFor(NOBODY).append(draftOf());
    await made.sessions.closeAll('shutdown', 'server_stop');
    const [id = ''] = journalSessionIds(made.directory);
    expect(metadataOf(made, id)).toMatchObject({ status: 'shutdown', entry_count: 1 });
    expect(fs.existsSync(join(made.directory, 'index.json'))).toBe(true);
  });
});
