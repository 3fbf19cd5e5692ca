// Which trigrams of a text to ask the index of words for. Each one costs a walk through a list of
// all entries that have it, so a few rare ones that do not overlap are asked for, and what they
// leave is looked at. Of long entries more are asked for: each one costs a bit of the entries that
// have those before, and reading a long entry costs a hundred times as much. How rare one is, is
// known from a sample: the entries of every 64th second. It is a hint and never taken back; a wrong
// one costs time, not hits.
import { folded } from './search-text.ts';
import type { Database } from './sqlite.ts';

const GRAM_LENGTH = 3;
const GRAMS_MAX = 3;
const LONG_GRAMS_MAX = 16;
const SAMPLED = 64;
// What is behind these in a text that is searched for is looked at, but not asked for.
const PLACES_MAX = 200;

/** Grams of the entries that were put in. */
export class GramSample {
  readonly #counts = new Map<string, number>();

  add(at: number, words: string): void {
    if (Math.floor(at / 1000) % SAMPLED !== 0) return;
    for (const gram of new Set(gramsOf(words))) {
      this.#counts.set(gram, (this.#counts.get(gram) ?? 0) + 1);
    }
  }

  store(database: Database): void {
    const sql = `INSERT INTO grams VALUES (?, ?)
      ON CONFLICT DO UPDATE SET count = count + excluded.count`;
    for (const [gram, count] of this.#counts) database.run(sql, gram, count);
  }
}

type Gram = { readonly gram: string; readonly place: number };

/** Those of a text, the rarest first; none of one that is too short to have any. */
export function rareGrams(database: Database, text: string): readonly Gram[] {
  return gramsOf(folded(text))
    .slice(0, PLACES_MAX)
    .map((gram, place) => ({ gram, place, count: countOf(database, gram) }))
    .sort((a, b) => a.count - b.count);
}

/** Of those that `rareGrams` gives: what to ask the index of words for. */
export function shortGrams(grams: readonly Gram[]): readonly string[] {
  const chosen: Gram[] = [];
  for (const one of grams) {
    if (chosen.every(({ place }) => Math.abs(place - one.place) >= GRAM_LENGTH)) chosen.push(one);
    if (chosen.length === GRAMS_MAX) break;
  }
  return chosen.map(({ gram }) => gram);
}

/** Of those that `rareGrams` gives: what to ask the signatures of long entries for. */
export function longGrams(grams: readonly Gram[]): readonly string[] {
  return grams.slice(0, LONG_GRAMS_MAX).map(({ gram }) => gram);
}

function countOf(database: Database, gram: string): number {
  const [row] = database.all('SELECT count FROM grams WHERE gram = ?', gram);
  return Number(row?.count ?? 0);
}

/** Those of a folded text, in its order. */
function gramsOf(words: string): string[] {
  const letters = Array.from(words.replace(/[A-Z]/g, (letter) => letter.toLowerCase()));
  const last = letters.length - GRAM_LENGTH;
  return letters.slice(0, last + 1).map((_, i) => letters.slice(i, i + GRAM_LENGTH).join(''));
}
