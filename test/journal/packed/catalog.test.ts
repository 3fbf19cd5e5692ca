// The catalog of an encrypted journal: no word of it on a disk, and the same answers.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openCatalog } from '../../../src/journal/catalog.ts';
import { catalogPath, hiddenCatalogPath } from '../../../src/journal/catalog-place.ts';
import { loadSqlite } from '../../../src/journal/sqlite.ts';
import { lacking } from '../../requirements.ts';
import { NOW, tempDir } from '../helper.ts';
import { onDisk, packAll, WORD, withMine, withNone, wordySession } from './helper.ts';

const QUERY = { text: WORD, limit: 50 };
const now = (): number => NOW;
const sqlite = loadSqlite();

/** What it answers, having taken in all of it. */
async function answers(directory: string, hidden?: () => boolean) {
  const catalog = await openCatalog(directory, { now, ...(hidden && { hidden }) });
  onTestFinished(() => catalog.close());
  expect(catalog.refresh()).toEqual({ done: true });
  return { hits: catalog.search(QUERY), stats: catalog.stats() };
}

const isMemory = (path: string): boolean =>
  fs.existsSync(path) && Number(fs.statfsSync(path).type) === 0x01021994;

describe.skipIf(lacking(sqlite === undefined, 'no SQLite'))('the catalog', () => {
  it('of a journal with recipients is on no disk, and what was there goes', async () => {
    withMine();
    vi.stubEnv('XDG_RUNTIME_DIR', undefined);
    const { directory, lines } = await wordySession(5);
    const plain = await answers(directory);
    expect(fs.existsSync(catalogPath(directory))).toBe(true);
    expect(hiddenCatalogPath(directory)).toBe(':memory:');
    expect(await answers(directory, () => true)).toEqual(plain);
    expect(fs.existsSync(catalogPath(directory))).toBe(false);
    await packAll(lines);
    // Whatever the settings say now: the words are those of others, too.
    expect(await answers(directory, () => false)).toEqual(plain);
    expect(onDisk(directory)).not.toContain(WORD);
  });

  it('that is open when encryption is turned on goes on in memory', async () => {
    withMine();
    vi.stubEnv('XDG_RUNTIME_DIR', undefined);
    const { directory } = await wordySession(2);
    let hidden = false;
    const catalog = await openCatalog(directory, { now, hidden: () => hidden });
    onTestFinished(() => catalog.close());
    catalog.refresh();
    hidden = true;
    fs.rmSync(catalogPath(directory));
    expect(catalog.refresh({ budgetMs: 1e6 })).toEqual({ done: true });
    expect(catalog.search(QUERY)).toHaveLength(2);
    expect(fs.existsSync(catalogPath(directory))).toBe(false);
  });

  it('without an identity says for whom it is, and keeps no server busy', async () => {
    withNone();
    vi.stubEnv('XDG_RUNTIME_DIR', undefined);
    const { directory, id, lines } = await wordySession(2);
    await packAll(lines);
    const catalog = await openCatalog(directory, { now });
    onTestFinished(() => catalog.close());
    expect(() => catalog.refresh()).toThrow('is encrypted for age1');
    expect(catalog.refresh({ budgetMs: 10, first: [id] })).toEqual({ done: true });
    expect(() => catalog.search(QUERY)).toThrow('is encrypted for age1');
  });

  it.skipIf(lacking(!isMemory('/dev/shm'), '/dev/shm is no tmpfs'))(
    'is kept in the memory that the system has for this user',
    async () => {
      withMine();
      const runtime = fs.mkdtempSync('/dev/shm/cuff-test-');
      onTestFinished(() => fs.rmSync(runtime, { recursive: true, force: true }));
      vi.stubEnv('XDG_RUNTIME_DIR', runtime);
      const { directory } = await wordySession(2);
      expect(hiddenCatalogPath(directory)).toBe(':memory:'); // and asking made nothing there
      expect(fs.readdirSync(runtime)).toEqual([]);
      const { hits } = await answers(directory, () => true);
      const path = hiddenCatalogPath(directory);
      expect([hits.length, path.startsWith(`${runtime}/cuff-catalogs/`)]).toEqual([2, true]);
      expect(fs.statSync(path).mode & 0o777).toBe(0o600);
      fs.chmodSync(join(runtime, 'cuff-catalogs'), 0o755);
      expect(hiddenCatalogPath(directory)).toBe(':memory:');
      vi.stubEnv('XDG_RUNTIME_DIR', isMemory(tempDir()) ? undefined : tempDir());
      expect(hiddenCatalogPath(directory)).toBe(':memory:');
    },
  );
});
