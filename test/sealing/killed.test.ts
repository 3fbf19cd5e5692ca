// Servers that are killed at any moment between an entry, its leaf and the checkpoint, and servers
// that write and sign side by side: every entry has its leaf in the end, and none has another. At
// no time does `cuff verify` take what they left for an attack.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { journalSessionIds } from '../../src/journal/reader.ts';
import { compile } from '../capture/helper.ts';
import { draftOf } from '../journal/helper.ts';
import { seedOf } from '../seed.ts';
import { commitmentsOf, linesOf, SealWorld } from './helper.ts';

const LONG = process.env.CUFF_LONG === '1';
const KILLS = LONG ? 200 : 25;
const ENTRIES = LONG ? 5_000 : 300;
const TIMEOUT_MS = 3_600_000; // 200 servers on a busy machine take more than ten minutes

/** Appends to sessions that change, signs as often as it can, and prints what was acknowledged. */
function program(): string {
  const draft = JSON.stringify(draftOf());
  return compile(`
    import { Sessions } from '../../src/journal/sessions.ts';
    import { Ledger } from '../../src/sealing/ledger.ts';
    import { thisProcess } from '../../src/run/processes.ts';
    import { processAlive } from '../../src/run/processes.ts';
    const [directory, stateRoot, total] = process.argv.slice(2);
    const owner = thisProcess();
    const ledger = new Ledger({ stateRoot, owner, alive: processAlive, now: Date.now });
    const env = { now: Date.now, seal: ledger.sealOf() };
    const where = { directory, mode: 'continuous', workingDirectory: '/' };
    const sessions = new Sessions({ ...where, owner, alive: processAlive, env });
    const who = { agentId: null, conversationId: null, toolCallId: null, traceId: null };
    let next = 0;
    const work = async () => {
      while (next < Number(total)) {
        next += 1;
        const draft = { ...${draft}, run_id: null, stdout: 'x'.repeat((next * 37) % 3000) };
        const entry = await sessions.writerFor(who).append(draft);
        process.stdout.write(entry.entry_id + '\\n');
      }
    };
    const sign = async () => {
      while (next < Number(total)) {
        await ledger.sign();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    await Promise.all([work(), work(), sign()]);
    await sessions.closeAll('shutdown', 'server_stop');
    await ledger.close();
  `);
}

type Server = { readonly child: ChildProcess; readonly seen: string[]; ended: Promise<unknown> };

function start(file: string, world: SealWorld, total: number): Server {
  const child = spawn(process.execPath, [file, world.journal, world.root, String(total)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const seen: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]);
  lines.on('line', (line) => seen.push(line));
  return { child, seen, ended };
}

/** Killed when it has acknowledged so many entries, and a little later. */
async function killAt(server: Server, count: number, turns: number): Promise<void> {
  while (server.seen.length < count && server.child.exitCode === null) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  server.child.kill('SIGKILL');
  await server.ended;
}

/** Numbers below 1 that look random, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Each whole line of the journal, with the commitments of its entry. */
function entriesOf(world: SealWorld): Map<string, ReturnType<typeof commitmentsOf>> {
  const found = new Map<string, ReturnType<typeof commitmentsOf>>();
  for (const id of journalSessionIds(world.journal)) {
    for (const line of linesOf(fs.readFileSync(world.session(id), 'utf8'))) {
      const { sequence_number: number } = JSON.parse(line);
      found.set(`${id} ${number}`, commitmentsOf(line));
    }
  }
  return found;
}

/** What the leaves say of entries; a number with two leaves says the same twice. */
function sealedOf(world: SealWorld): Map<string, ReturnType<typeof commitmentsOf>> {
  const found = new Map<string, ReturnType<typeof commitmentsOf>>();
  for (const { session, sequence, facts, text, stdout, stderr } of world.leaves('entry')) {
    const key = `${session} ${sequence}`;
    const all = { facts, text, stdout, stderr };
    expect([key, found.get(key) ?? all]).toEqual([key, all]);
    found.set(key, all);
  }
  return found;
}

it(
  `that are killed ${KILLS} times leave no entry and no leaf without the other`,
  async () => {
    const world = new SealWorld();
    const [file, random] = [program(), randomFrom(seedOf('kills'))];
    const acknowledged = new Set<string>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const server = start(file, world, 1_000_000);
      await killAt(server, 1 + Math.floor(random() * 40), Math.floor(random() * 50));
      for (const id of server.seen) acknowledged.add(id);
      // What was signed stands, whatever was going on; and nothing that is there is an attack.
      world.signed();
      expect([kill, world.wrongs()]).toEqual([kill, []]);
      const ledger = world.ledger();
      await world.late(ledger);
      expect((await ledger.sign())?.kind).toMatch(/signed|current/);
      expect(world.signed()).toBe(world.lines.length);
      expect(sealedOf(world)).toEqual(entriesOf(world));
      expect([kill, world.wrongs()]).toEqual([kill, []]);
      await ledger.close();
    }
    const { counts } = world.verify();
    expect([counts.entries, counts.unsealed]).toEqual([entriesOf(world).size, 0]);
    expect(entriesOf(world).size).toBeGreaterThanOrEqual(acknowledged.size);
    // Cut off by a crash: never unexplained.
    const unvouched = world
      .leaves('entry')
      .filter(({ origin, run }) => origin === 'late' && run === null);
    expect(unvouched).toEqual([]);
  },
  TIMEOUT_MS,
);

it(
  `that write side by side, ${ENTRIES} entries each, share one ledger`,
  async () => {
    const world = new SealWorld();
    const file = program();
    const servers = [start(file, world, ENTRIES), start(file, world, ENTRIES)];
    await Promise.all(servers.map(({ ended }) => ended));
    expect(servers.map(({ child }) => child.exitCode)).toEqual([0, 0]);
    expect(servers.map(({ seen }) => seen.length)).toEqual([ENTRIES, ENTRIES]);
    // An empty line is one that met the other's write in the middle of a page; it says nothing.
    const odd = world.lines.filter((line) => line !== '\n' && !line.startsWith('cuff/1 '));
    expect(odd).toEqual([]);
    expect(sealedOf(world)).toEqual(entriesOf(world));
    expect(world.leaves('entry')).toHaveLength(ENTRIES * 2);
    expect(world.leaves('key')).toHaveLength(1);
    await world.ledger().sign();
    expect(world.signed()).toBe(world.lines.length);
    const { counts, findings } = world.verify();
    expect([counts.entries, counts.unsigned, findings]).toEqual([ENTRIES * 2, 0, []]);
    expect(
      fs.readdirSync(join(world.root, 'seal')).filter((name) => /claim|new/.test(name)),
    ).toEqual([]);
  },
  TIMEOUT_MS,
);
