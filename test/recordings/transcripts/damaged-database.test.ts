// A damaged database of OpenCode: what can be read of it, and always an end.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSqlite } from '../../../src/journal/sqlite.ts';
import { TranscriptTally, transcriptFacts } from '../../../src/recordings/transcripts/read.ts';
import { lacking } from '../../requirements.ts';
import { seedOf } from '../../seed.ts';
import { Home } from './helper.ts';

const ROWS = 500;
const PAGE_BYTES = 1024;
const ROWS_PER_PAGE = 5;
const ROWS_AT_ONCE = 200; // of one query of the reader

const sqlite = loadSqlite();
const home = new Home();
let whole: Buffer;

beforeAll(() => {
  if (sqlite !== undefined) whole = database(sqlite);
});
afterAll(() => home.close());

/** Rows of one size, so that as many share each page. */
function database({ open }: NonNullable<typeof sqlite>): Buffer {
  const scratch = mkdtempSync(join(tmpdir(), 'cuff-database-'));
  try {
    const path = join(scratch, 'opencode.db');
    const made = open(path);
    made.exec(`PRAGMA page_size=${PAGE_BYTES}; PRAGMA synchronous=OFF; BEGIN`);
    made.exec('CREATE TABLE session (id TEXT, directory TEXT)');
    made.exec('CREATE TABLE part (id TEXT, session_id TEXT, data TEXT)');
    made.run("INSERT INTO session VALUES ('s', '/srv/app')");
    for (let i = 1000; i < 1000 + ROWS; i += 1) {
      const state = { status: 'completed', input: { command: `echo ${i}` } };
      const text = JSON.stringify({ type: 'tool', tool: 'bash', callID: `c${i}`, state });
      made.run('INSERT INTO part VALUES (?, ?, ?)', `p${i}`, 's', text.padEnd(180));
    }
    made.exec('COMMIT');
    made.close();
    return readFileSync(path);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function countOf(bytes: Uint8Array): number {
  home.write('.local/share/opencode/opencode.db', bytes);
  const query = { agents: ['opencode'], env: home.env, projects: [] } as const;
  return [...transcriptFacts(query, new TranscriptTally())].length;
}

describe.skipIf(lacking(sqlite === undefined, 'this Node has no SQLite'))('a database', () => {
  it('that is damaged anywhere gives no more than it had', () => {
    expect(countOf(whole)).toBe(ROWS);
    const change = fc.record({
      at: fc.oneof(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 2 * PAGE_BYTES })),
      byte: fc.nat({ max: 255 }),
    });
    const changes = fc.array(change, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(changes, fc.option(fc.nat({ max: whole.length })), (all, cutAt) => {
        const bytes = Buffer.from(whole);
        for (const { at, byte } of all) bytes[at] = byte;
        expect(countOf(bytes.subarray(0, cutAt ?? bytes.length))).toBeLessThanOrEqual(ROWS);
      }),
      { seed: seedOf('properties'), numRuns: process.env.CUFF_LONG === '1' ? 2000 : 30 },
    );
  });

  it('in which one page stands in the place of another comes to an end', () => {
    const pages = Array.from({ length: whole.length / PAGE_BYTES }, (_, at) => at * PAGE_BYTES);
    const leaves = pages.filter((at) => {
      const page = whole.subarray(at, at + PAGE_BYTES);
      return page[0] === 0x0d && page.includes('echo ');
    });
    expect(leaves).toHaveLength(ROWS / ROWS_PER_PAGE);
    // What stands so far behind its own place leads the next query back to that.
    const back = ROWS_AT_ONCE / ROWS_PER_PAGE;
    for (const [index, from] of leaves.slice(0, -back).entries()) {
      const mixed = Buffer.from(whole);
      whole.copy(mixed, leaves[index + back], from, from + PAGE_BYTES);
      expect(countOf(mixed)).toBeLessThanOrEqual(ROWS);
    }
  });
});
