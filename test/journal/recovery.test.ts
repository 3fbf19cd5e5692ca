// What a dead server left, who may finish it, and what is old enough to go.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { claimRecovery } from '../../src/journal/claim.ts';
import { readIndex } from '../../src/journal/index-file.ts';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import { type KnownIntent, knownSessions, planRecovery } from '../../src/journal/recovery.ts';
import { removeSession, sessionsOlderThan } from '../../src/journal/retention.ts';
import { resumeSession, startSession } from '../../src/journal/writer.ts';
import type { ProcessId, SessionStatus } from '../../src/types.ts';
import { compile } from '../capture/helper.ts';
import { draftOf, FACTS, NOW, newJournal, OWNER, tempDir, world } from './helper.ts';

const dead = (): boolean => false;
const living =
  (...who: readonly ProcessId[]) =>
  ({ pid, startTime }: ProcessId): boolean =>
    who.some((one) => one.pid === pid && one.startTime === startTime);

function intentOf(
  runId: string,
  sessionId: string,
  change: Partial<KnownIntent> = {},
): KnownIntent {
  const { duration_ms: _, stdout: __, stderr: ___, ...draft } = draftOf();
  const stored = { captureOutput: true, outputBytesMax: 1000, redact: false };
  const intent = { directory: '/j', sessionId, draft, ...stored };
  return { runId, intent, starterAlive: false, running: false, ...change };
}

function known(id: string, status: SessionStatus, runs: string[] = [], ownerAlive = false) {
  const { metadata } = startSession(newJournal(), FACTS, world());
  return {
    metadata: { ...metadata, session_id: id, status },
    ownerAlive,
    runIds: new Set(runs),
    whole: true,
  };
}

describe('a plan', () => {
  const plan = (sessions: ReturnType<typeof known>[], intents: KnownIntent[]) =>
    planRecovery({ directory: '/j', sessions, intents });

  it('writes what can be written, waits for what runs, and interrupts what is active', () => {
    const intents = [
      intentOf('late', 's', at('2026-01-18T15:00:00Z')),
      intentOf('early', 's', at('2026-01-18T14:00:00Z')),
      intentOf('there', 's'),
      intentOf('going', 's', { running: true }),
    ];
    expect(plan([known('s', 'active', ['there'])], intents)).toEqual([
      { sessionId: 's', append: ['early', 'late'], wait: ['going'], end: 'interrupted' },
    ]);
  });

  it('completes a session that lacks nothing but its end', () => {
    const whole = known('s', 'active', ['there']);
    const ended = (session: ReturnType<typeof known>, ...intents: KnownIntent[]) =>
      plan([session], intents).map(({ end }) => end);
    expect(ended(whole, intentOf('there', 's'))).toEqual(['complete']);
    expect(ended({ ...whole, whole: false }, intentOf('there', 's'))).toEqual(['interrupted']);
    expect(ended(whole, intentOf('lost', 's'))).toEqual(['interrupted']);
    expect(ended(whole, intentOf('going', 's', { running: true }))).toEqual(['interrupted']);
  });

  it('leaves a session that has ended as it is, but for what is missing', () => {
    expect(plan([known('s', 'complete')], [])).toEqual([]);
    expect(plan([known('s', 'shutdown')], [intentOf('r', 's')])).toEqual([
      { sessionId: 's', append: ['r'], wait: [], end: undefined },
    ]);
  });

  it('touches nothing of the living, of other journals, and of sessions that were removed', () => {
    const other = intentOf('r', 's');
    const elsewhere = { ...other, intent: { ...other.intent, directory: '/k' } };
    expect(plan([known('s', 'active', [], true)], [intentOf('r', 's')])).toEqual([]);
    expect(plan([known('s', 'complete')], [intentOf('r', 's', { starterAlive: true })])).toEqual(
      [],
    );
    expect(plan([known('s', 'complete')], [elsewhere])).toEqual([]);
    expect(plan([], [intentOf('r', 's')])).toEqual([]);
  });

  it('followed once leaves nothing to do, whatever there was', () => {
    const states = fc.constantFrom('active', 'complete', 'interrupted');
    const sessions = fc.array(fc.tuple(states, fc.boolean()), { maxLength: 4 });
    const intents = fc.array(fc.tuple(fc.nat({ max: 5 }), fc.boolean()), { maxLength: 12 });
    fc.assert(
      fc.property(sessions, intents, (made, wanted) => {
        const all = made.map(([status, alive], n) => known(`s${n}`, status, [], alive));
        const runs = wanted.map(([n, running], r) => intentOf(`r${r}`, `s${n}`, { running }));
        const first = plan(all, runs);
        const done = all.map((session) => {
          const todo = first.find(({ sessionId }) => sessionId === session.metadata.session_id);
          if (todo === undefined) return session;
          const status: SessionStatus = todo.end ?? session.metadata.status;
          const runIds = new Set([...todo.append, ...todo.wait]);
          return { ...session, metadata: { ...session.metadata, status }, runIds };
        });
        expect(plan(done, runs)).toEqual([]);
        const planned = first.flatMap(({ append, wait }) => [...append, ...wait]);
        expect(new Set(planned).size).toBe(planned.length);
      }),
    );
  });

  function at(timestamp: string): Partial<KnownIntent> {
    const { intent } = intentOf('x', 's');
    return { intent: { ...intent, draft: { ...intent.draft, timestamp } } };
  }
});

describe('recovering a journal', () => {
  it('finds the sessions of the dead, and after it there are none', async () => {
    const directory = newJournal();
    const env = world();
    const writers = [1, 2, 3].map((n) =>
      startSession(directory, { ...FACTS, owner: { pid: n, startTime: 9 } }, env),
    );
    const [a, b, c] = writers.map(({ id }) => id) as [string, string, string];
    for (const writer of writers) await writer.append(draftOf({ run_id: `run of ${writer.id}` }));
    await writers[1]?.finalize('shutdown', 'server_stop');
    const alive = living({ pid: 3, startTime: 9 });
    const find = (...named: string[]) => knownSessions(directory, named, alive);
    const shown = async (...named: string[]) =>
      (await find(...named)).map(({ metadata, ownerAlive, runIds }) => [
        metadata.session_id,
        ownerAlive,
        [...runIds],
      ]);
    const expected = [
      [a, false, [`run of ${a}`]],
      [c, true, [`run of ${c}`]],
    ];
    expect(await shown()).toEqual(expected);
    readIndex(directory, env); // with an index as without one
    expect(await shown()).toEqual(expected);
    expect((await shown(b, 'gone')).map(([id]) => id)).toEqual([a, b, c]);

    const missing = intentOf('lost', a);
    const intents = [{ ...missing, intent: { ...missing.intent, directory } }];
    const [todo] = planRecovery({ directory, sessions: await find(a), intents });
    expect(todo).toEqual({ sessionId: a, append: ['lost'], wait: [], end: 'interrupted' });
    const resumed = resumeSession(directory, a, env);
    await resumed.append(draftOf({ run_id: 'lost', end_reason: 'interrupted' }));
    await resumed.finalize('interrupted', 'owner_died');
    expect(readSession(directory, a)).toMatchObject({
      metadata: { status: 'interrupted', entry_count: 2, end_reason: 'owner_died' },
      entries: [{ sequence_number: 1 }, { sequence_number: 2, run_id: 'lost' }],
    });
    expect(planRecovery({ directory, sessions: await find(a), intents })).toEqual([]);
    expect(readIndex(directory, env).sessions[a]).toMatchObject({ status: 'interrupted' });
  });

  it('is not misled by a pid that belongs to somebody else now', async () => {
    const directory = newJournal();
    startSession(directory, { ...FACTS, owner: { pid: 7, startTime: 100 } }, world());
    const alive = living({ pid: 7, startTime: 200 });
    expect(await knownSessions(directory, [], alive)).toMatchObject([{ ownerAlive: false }]);
  });
});

describe('a claim', () => {
  const other: ProcessId = { pid: 99, startTime: 1 };

  it('is exclusive while its process lives, and then for the next', async () => {
    const directory = newJournal();
    const claim = await claimRecovery(directory, OWNER, living(OWNER, other));
    expect(claim).toBeDefined();
    expect(await claimRecovery(directory, other, living(OWNER, other))).toBeUndefined();
    expect(await claimRecovery(directory, OWNER, living(OWNER, other))).toBeUndefined();
    claim?.release();
    const second = await claimRecovery(directory, other, living(OWNER, other));
    expect(second).toBeDefined();
    // Its process died without letting go of it.
    expect(await claimRecovery(directory, OWNER, living(OWNER))).toBeDefined();
    expect(fs.readdirSync(directory).filter((name) => name.endsWith('.claim'))).toHaveLength(1);
  });

  it('cannot be had where nothing can be written, and says so by being none', async () => {
    const file = join(tempDir(), 'file');
    fs.writeFileSync(file, '');
    expect(await claimRecovery(join(file, 'journal'), OWNER, dead)).toBeUndefined();
  });

  it('removes what a dead process left half-made, and nothing of a living one', async () => {
    const directory = newJournal();
    startSession(directory, FACTS, world());
    const gone = spawn('true');
    await once(gone, 'exit');
    const other = process.ppid;
    const put = (name: string, ageMs: number): string => {
      const path = join(directory, name);
      fs.writeFileSync(path, '');
      fs.utimesSync(path, (NOW - ageMs) / 1000, (NOW - ageMs) / 1000);
      return path;
    };
    const old = [
      put(`index.json.${gone.pid}-3.tmp`, 0),
      put(`sessions/x.meta.json.${other}-2.tmp`, 1e10),
      put(`sessions/y.meta.json.${process.pid}-2.tmp`, 60_000), // of one that had our pid before
    ];
    const kept = [
      put(`index.json.${other}-4.tmp`, 60_000),
      put('mine.tmp', 1e10),
      put('notes', 1e10),
    ];
    await claimRecovery(directory, OWNER, dead, () => NOW);
    expect(old.filter((path) => fs.existsSync(path))).toEqual([]);
    expect(kept.filter((path) => !fs.existsSync(path))).toEqual([]);
  });

  it('of ten processes that want it at once is had by one at a time, and all get it', async () => {
    const directory = newJournal();
    fs.mkdirSync(directory, { recursive: true });
    const log = join(tempDir(), 'log');
    const program = compile(`
      import * as fs from 'node:fs';
      import { claimRecovery } from '../../src/journal/claim.ts';
      const [directory, log] = process.argv.slice(2);
      const alive = ({ pid }) => {
        try {
          return process.kill(pid, 0);
        } catch {
          return false;
        }
      };
      const say = (word) => fs.appendFileSync(log, word + ' ' + process.pid + '\\n');
      for (;;) {
        const claim = await claimRecovery(directory, { pid: process.pid, startTime: 0 }, alive);
        if (claim === undefined) continue;
        say('has');
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (process.pid % 2 === 0) process.kill(process.pid, 'SIGKILL'); // without letting go
        say('had');
        claim.release();
        break;
      }
    `);
    // Those with an even pid die while they have it; the next has it all the same.
    const ends = Array.from({ length: 10 }, () => {
      const child = spawn(process.execPath, [program, directory, log], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      return new Promise<number>((resolve) => {
        child.on('exit', () => resolve(child.pid ?? 0));
      });
    });
    const pids = await Promise.all(ends);
    const lines = fs.readFileSync(log, 'utf8').trimEnd().split('\n');
    const order = lines.filter((line) => line.startsWith('has')).map((line) => line.slice(4));
    expect(new Set(order)).toEqual(new Set(pids.map(String)));
    const expected = order.flatMap((pid) =>
      Number(pid) % 2 === 0 ? [`has ${pid}`] : [`has ${pid}`, `had ${pid}`],
    );
    expect(lines).toEqual(expected);
  });
});

describe('old sessions', () => {
  async function session(directory: string, at: string, status?: SessionStatus): Promise<string> {
    const env = world();
    env.time = Date.parse(at);
    const random = (): Uint8Array => Buffer.from(at.replace(/\D/g, '').slice(2, 14), 'hex');
    const writer = startSession(directory, FACTS, { ...env, random });
    await writer.append(draftOf({ timestamp: at, duration_ms: 0 }));
    if (status !== undefined) await writer.finalize(status, 'over');
    return writer.id;
  }

  it('are those last touched before the day, unless somebody still writes them', async () => {
    const directory = newJournal();
    const old = await session(directory, '2026-01-01T10:00:00Z', 'complete');
    const active = await session(directory, '2026-01-02T10:00:00Z');
    const young = await session(directory, '2026-01-10T10:00:00Z', 'shutdown');
    const cutoff = Date.parse('2026-01-10T10:00:00Z');
    expect(sessionsOlderThan(directory, cutoff, living(OWNER))).toEqual([old]);
    expect(sessionsOlderThan(directory, cutoff, dead)).toEqual([old, active]);
    expect(sessionsOlderThan(directory, cutoff + 1000, dead)).toEqual([old, active, young]);
    expect(sessionsOlderThan(newJournal(), cutoff, dead)).toEqual([]);
  });

  it('are removed with both files, and the index forgets them', async () => {
    const directory = newJournal();
    const old = await session(directory, '2026-01-01T10:00:00Z', 'complete');
    const young = await session(directory, '2026-01-10T10:00:00Z', 'complete');
    const older = join(directory, '20250101_000000_older');
    fs.writeFileSync(`${older}.jsonl`, '');
    readIndex(directory, world());
    expect(removeSession(directory, old)).toBe(true);
    expect(removeSession(directory, old)).toBe(false);
    expect(removeSession(directory, '20250101_000000_older')).toBe(false); // it may be any file
    const text = fs.readFileSync(join(directory, 'sessions', `${young}.meta.json`), 'utf8');
    fs.writeFileSync(`${older}.meta.json`, text.replace(young, '20250101_000000_older'));
    expect(removeSession(directory, '20250101_000000_older')).toBe(true);
    expect(removeSession(directory, `../sessions/${young}`)).toBe(false);
    expect(fs.readdirSync(join(directory, 'sessions'))).toEqual([
      `${young}.jsonl`,
      `${young}.meta.json`,
    ]);
    expect(Object.keys(readIndex(directory, world()).sessions)).toEqual([young]);
    expect(journalSessionIds(directory)).toEqual([young]);
  });

  it('stay when their metadata is no file', async () => {
    const directory = newJournal();
    const id = await session(directory, '2026-01-01T10:00:00Z', 'complete');
    const meta = join(directory, 'sessions', `${id}.meta.json`);
    fs.unlinkSync(meta);
    fs.mkdirSync(meta);
    expect(removeSession(directory, id)).toBe(false);
    expect(journalSessionIds(directory)).toEqual([id]);
  });
});
