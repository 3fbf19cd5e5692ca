// What the catalog keeps of long entries, and which of them it takes for one that may be found.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openCatalogFile } from '../../src/journal/catalog-schema.ts';
import {
  forgetSignature,
  longEntries,
  signatureOf,
  storeSignature,
} from '../../src/journal/catalog-signature.ts';
import type { Database } from '../../src/journal/sqlite.ts';
import { describeDrivers } from './catalog-helper.ts';
import { tempDir } from './helper.ts';

const NEEDLE = ['ECO', 'REF', ':54'];

/** Of so many words, each of which is another one. */
function textOf(words: number, seed: number): string {
  return Array.from({ length: words }, (_, i) => ((i + seed) * 7919).toString(36)).join(' ');
}

describeDrivers('long entries', (load) => {
  const open = (): Database => {
    const sqlite = load();
    const file = sqlite && openCatalogFile(sqlite, join(tempDir(), 'catalog.db'), 0);
    if (file === undefined) throw new Error('there is no catalog');
    return file.database;
  };

  it('are read only if they have all of the grams, whatever their size', () => {
    const database = open();
    const withNeedle = [3, 14, 27, 36];
    for (let id = 1; id <= 40; id += 1) {
      const text = textOf(100 + 400 * id, id);
      const found = withNeedle.includes(id) ? ['ECONNREFUSED 127.0.0.1:5432'] : [];
      storeSignature(database, id, signatureOf([text, ...found]));
    }
    const sizes = database.all('SELECT DISTINCT bytes FROM signatures');
    expect(sizes.length).toBeGreaterThan(2);
    expect(longEntries(database, NEEDLE, 0)).toEqual([36, 27, 14, 3]);
    expect(longEntries(database, NEEDLE, 14)).toEqual([36, 27, 14]);
    expect(longEntries(database, ['eco', 'ref'], 28)).toEqual([36]);
    expect(longEntries(database, [], 39)).toEqual([40, 39]);
  });

  it('leave nothing behind when they are forgotten', () => {
    const database = open();
    for (const id of [1, 2]) {
      storeSignature(database, id, signatureOf([textOf(20_000, id), NEEDLE.join(' ')]));
    }
    forgetSignature(database, 2);
    forgetSignature(database, 2);
    expect(longEntries(database, NEEDLE, 0)).toEqual([1]);
    forgetSignature(database, 1);
    expect(database.all('SELECT id FROM signatures UNION ALL SELECT id FROM pieces')).toEqual([]);
  });
});
