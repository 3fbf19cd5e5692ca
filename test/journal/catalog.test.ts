// The catalog answers as reading every session file does, whatever happened to the files and to
// itself in between.
import * as fs from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Catalog } from '../../src/journal/catalog.ts';
import { encodeEntry, entryTimestamp } from '../../src/journal/entry.ts';
import { type SearchQuery, scanSearch } from '../../src/journal/search.ts';
import { scanStats } from '../../src/journal/stats.ts';
import type { Entry } from '../../src/types.ts';
import { describeDrivers, Journal } from './catalog-helper.ts';
import { NOW } from './helper.ts';

const FIRST = '20260118_143052_a7b3c9d2-e4f5';
const PART = '20260118_160315_b8c4d0e3-f6a7'; // of the first, once its metadata is written
const SESSIONS = [FIRST, PART, 'nightly'];

const QUERIES: readonly SearchQuery[] = [
  { text: '', limit: 1000 },
  { text: 'status', limit: 3 },
  { text: 'ERR', limit: 1000 },
  { text: 'e', limit: 4 },
  { text: 'straße', limit: 1000 },
  { text: 'Task %_\\', limit: 1000 },
  { text: '_\\', limit: 1000 },
  { text: '"', limit: 1000 },
  { text: 'error: no', limit: 1000, since: NOW + 3_000 },
  { text: 'ar', limit: 5, exit: 'nonzero' },
  { text: '', limit: 1000, exit: 1 },
  { text: 'main', limit: 1000, agent: 'codex' },
  { text: '^on (branch|fire)', regex: true, limit: 1000 },
  { text: '', process: 'git push', limit: 1000 },
  { text: '', process: '', limit: 1000 },
  { text: '', process: 'TASK %_\\', limit: 1000 },
  { text: 'main', process: 'e', limit: 1000 },
  { text: 'status', process: 'sh -c', exit: 'nonzero', limit: 2 },
  { text: '', process: '^git (push|pull)$', regex: true, limit: 1000 },
];
const TIMES = [undefined, NOW + 2_500, Date.parse('2026-01-19T00:00:00Z'), NOW + 86_400_000];

function expectSame(catalog: Catalog, journal: Journal): void {
  for (const query of QUERIES) {
    expect(catalog.search(query)).toEqual(scanSearch(journal.directory, query));
  }
  for (const since of TIMES) {
    const query = since === undefined ? {} : { since };
    expect(catalog.stats(query)).toEqual(scanStats(journal.directory, query));
  }
}

// Few times, so that many entries share one, and days on both sides of midnight.
const time = fc.constantFrom(-3600_000, 0, 1, 2_500, 3_000, 36_000_000, 90_000_000);
const output = fc.oneof(
  fc.constantFrom('On branch main\n', 'ERROR: no such file\n', 'a\x1b[31merr\x1b[0mor: no\n', ''),
  // Letters that match k and s, and what means something else in SQL.
  fc.constantFrom('ta\u017f\u212a %_\\', 'task %_\\', 'task xyz', '\u017ftatu\u017f'),
  fc.constantFrom('STRASSE straße', '\ud800 half', 'x\0y "quoted"', `on fire${'.'.repeat(5000)}e`),
  // So long that the catalog does not keep it.
  fc.constantFrom(`${'. '.repeat(9000)}a\x1b[1merror ta\u017fk${'-'.repeat(9000)}`),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const process = fc.oneof(
  fc.constantFrom('git push', 'git push origin', "sh -c 'git pull'", 'git pull', 'make -j8'),
  fc.constantFrom('ta\u017f\u212a %_\\', 'a\x1fgit push', 'x\ny git push', ''),
  output,
);
const draft = fc.record({
  at: time,
  command: fc.constantFrom(
    'git status',
    'cat a/b.ts',
    'cat "c d"',
    'make -j8 2>&1',
    'echo \0\ud800',
    'git st\x1b[1matus',
  ),
  description: fc.option(fc.constantFrom('check main', 'Error hunt'), { nil: null }),
  stdout: fc.option(output, { nil: null }),
  stderr: fc.option(output, { nil: null }),
  exit_code: fc.constantFrom(0, 0, 1, 2, 127, null),
  duration_ms: fc.constantFrom(0, 5, 5, 1000),
  agent_id: fc.constantFrom('claude-code', 'codex', null),
  process_list: fc.option(fc.array(process, { maxLength: 3 }), { nil: null }),
});
type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;

/** One thing that happens to a journal. */
type Act = (journal: Journal, next: (session: string, draft: Draft) => Entry) => void;

const session = fc.constantFrom(...SESSIONS);
const drafts = fc.array(draft, { minLength: 1, maxLength: 4 });

const acts: fc.Arbitrary<Act>[] = [
  fc.tuple(session, drafts).map(
    ([id, all]): Act =>
      (journal, next) => {
        journal.append(id, ...all.map((one) => next(id, one)));
      },
  ),
  // Without its newline at first: another writer's next line is glued to it.
  fc.tuple(session, draft).map(
    ([id, one]): Act =>
      (journal, next) => {
        fs.appendFileSync(journal.path(id), encodeEntry(next(id, one)).slice(0, -1));
      },
  ),
  fc.tuple(session, draft, fc.nat(300)).map(
    ([id, one, cut]): Act =>
      (journal, next) => {
        fs.appendFileSync(journal.path(id), encodeEntry(next(id, one)).slice(0, cut));
      },
  ),
  session.map(
    (id): Act =>
      (journal) =>
        fs.appendFileSync(journal.path(id), '\0\0\n'),
  ),
  session.map(
    (id): Act =>
      (journal) =>
        journal.end(id, undefined, undefined, {
          entry_count: 5,
          ...(id === PART && { part_of: FIRST }),
        }),
  ),
  session.map(
    (id): Act =>
      (journal) =>
        fs.rmSync(journal.path(id), { force: true }),
  ),
  // Shrunk; replaced in place by something that may be longer; replaced by another file.
  fc.tuple(session, fc.nat(2000)).map(
    ([id, size]): Act =>
      (journal) => {
        if (fs.existsSync(journal.path(id))) fs.truncateSync(journal.path(id), size);
      },
  ),
  fc.tuple(session, drafts).map(
    ([id, all]): Act =>
      (journal, next) => {
        fs.writeFileSync(journal.path(id), all.map((one) => encodeEntry(next(id, one))).join(''));
      },
  ),
  fc.tuple(session, drafts).map(
    ([id, all]): Act =>
      (journal, next) => {
        fs.rmSync(journal.path(id), { force: true });
        journal.append(id, ...all.map((one) => next(id, one)));
      },
  ),
  // The same entry twice counts once.
  fc.tuple(session, draft).map(
    ([id, one]): Act =>
      (journal, next) => {
        const entry = next(id, one);
        journal.append(id, entry);
        journal.append(id, entry);
      },
  ),
  fc.constant<Act>((journal) => fs.rmSync(journal.database, { force: true })),
  fc.constant<Act>((journal) => fs.writeFileSync(journal.database, 'not a database')),
];

/** When the file was last changed; undefined when there is none. */
function changed(path: string): number | undefined {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

describeDrivers('a catalog', (load) => {
  it('answers as the scan does after whatever happens to the journal', async () => {
    const steps = fc.array(fc.tuple(fc.oneof(...acts), fc.boolean()), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const journal = new Journal();
        let sequence = 0;
        const next = (id: string, { at, ...rest }: Draft): Entry => {
          sequence += 1;
          return journal.entry(id, sequence, { ...rest, timestamp: entryTimestamp(NOW + at) });
        };
        let catalog = await journal.open(load);
        let spoilt = false;
        for (const [act, again] of all) {
          const before = changed(journal.database);
          act(journal, next);
          spoilt ||= changed(journal.database) !== before;
          if (again) {
            catalog.close();
            catalog = await journal.open(load);
          }
          const { done } = catalog.refresh();
          // Whoever has a spoilt file open still may hold it up; answers come from the scan then.
          if (!spoilt) expect(done).toBe(true);
          expectSame(catalog, journal);
        }
        catalog.close();
        fs.rmSync(journal.directory, { recursive: true });
      }),
      { numRuns: 50 },
    );
  });
});
