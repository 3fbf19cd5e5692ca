// What a search finds, in which order, and what a hit says. How the catalog comes to the same is
// in catalog.test.ts.
import { appendFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entryTimestamp } from '../../src/journal/entry.ts';
import { type SearchQuery, scanSearch, scanUnsearched } from '../../src/journal/search.ts';
import { folded, matcherOf, placeInField, searchedText } from '../../src/journal/search-text.ts';
import type { Entry } from '../../src/types.ts';
import { Journal } from './catalog-helper.ts';
import { NOW } from './helper.ts';

const SESSION = '20260118_143052_a7b3c9d2-e4f5';
const OTHER = '20260118_160315_b8c4d0e3-f6a7';

/** The same by both ways, or it is no answer. */
async function search(journal: Journal, query: Partial<SearchQuery>) {
  const whole = { text: '', limit: 20, ...query };
  const catalog = await journal.open();
  catalog.refresh();
  const hits = catalog.search(whole);
  catalog.close();
  expect(hits).toEqual(scanSearch(journal.directory, whole));
  return hits;
}

function journalOf(...changes: readonly Partial<Entry>[]): Journal {
  const journal = new Journal();
  journal.append(SESSION, ...changes.map((change, i) => journal.entry(SESSION, i + 1, change)));
  return journal;
}

describe('a hit', () => {
  it('says where it is, with the line around it', async () => {
    const journal = journalOf({ command: 'npm test', stdout: 'ok\n2 tests FAILED here\nbye\n' });
    expect(await search(journal, { text: 'failed' })).toEqual([
      {
        sessionId: SESSION,
        entryId: 'e_20260118_143053_001',
        sequence: 1,
        timestamp: '2026-01-18T14:30:53.123000Z',
        command: 'npm test',
        exitCode: 0,
        agentId: 'claude-code',
        found: 'stdout',
        offset: 11,
        snippet: '2 tests FAILED here',
        match: { from: 8, to: 14 },
      },
    ]);
  });

  it.each<[string, Partial<Entry>]>([
    ['command', { command: 'echo xyzzy', description: 'xyzzy', stdout: 'xyzzy' }],
    ['description', { description: 'say xyzzy', stdout: 'xyzzy', stderr: 'xyzzy' }],
    ['stdout', { stdout: 'xyzzy', stderr: 'xyzzy' }],
    ['stderr', { stdout: null, stderr: 'xyzzy' }],
  ])('names the first field that has it: %s', async (found, change) => {
    expect(await search(journalOf(change), { text: 'xyzzy' })).toMatchObject([{ found }]);
  });

  it('counts its offset in bytes of the output as it was, colours and all', async () => {
    const stdout = 'größe \x1b[1;31mrot\x1b[0mer Fehler\x1b]0;title\x07 am Ende\n';
    const [hit] = await search(journalOf({ stdout }), { text: 'roter fehler am' });
    expect(hit?.snippet).toBe('größe roter Fehler am Ende');
    expect(Buffer.from(stdout).subarray(hit?.offset).toString().startsWith('rot\x1b[0mer')).toBe(
      true,
    );
  });

  it('shows at most sixty characters on either side of the match', async () => {
    const stdout = `${'a'.repeat(100)}needle${'b'.repeat(100)}`;
    const [hit] = await search(journalOf({ stdout }), { text: 'needle' });
    expect(hit).toMatchObject({
      snippet: `…${'a'.repeat(60)}needle${'b'.repeat(60)}…`,
      match: { from: 61, to: 67 },
    });
  });
});

describe('a search', () => {
  it('finds parts of words in either case, punctuation and line ends to the letter', async () => {
    const journal = journalOf({ stdout: 'Error: ECONNREFUSED 127.0.0.1:80 (x)\nnext' });
    const count = async (text: string) => (await search(journal, { text })).length;
    for (const text of ['connref', '0.0.1:80 (X)', ')\nNEXT', 'R', '', 'git']) {
      expect([text, await count(text)]).toEqual([text, 1]);
    }
    for (const text of ['0001', 'x)next', '.*', 'refused  127']) {
      expect([text, await count(text)]).toEqual([text, 0]);
    }
  });

  it('takes regular expressions by lines, and says what is wrong with a bad one', async () => {
    const journal = journalOf({ stdout: 'one\nTwo 22\nthree' });
    expect(await search(journal, { text: '^two \\d+$', regex: true })).toHaveLength(1);
    expect(await search(journal, { text: '^one.two', regex: true })).toHaveLength(0);
    expect(await search(journal, { text: 'tw\\o', regex: true })).toHaveLength(1);
    await expect(search(journal, { text: '(', regex: true })).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it('by what ran inside finds the process, and nothing that was only printed', async () => {
    const journal = journalOf(
      { command: 'make', process_list: ['make', 'git push origin', 'sh -c "x"'] },
      { command: 'git push', stdout: 'git push', process_list: null },
      { command: 'make clean', stdout: 'on main', process_list: ['rm -rf out', 'git pull'] },
    );
    const [hit, ...others] = await search(journal, { process: 'GIT pu' });
    expect(others).toMatchObject([
      { command: 'make', found: 'process', snippet: 'git push origin' },
    ]);
    expect(hit).toMatchObject({ command: 'make clean', found: 'process', offset: 0 });
    expect(await search(journal, { process: 'git pu', text: 'on main' })).toMatchObject([
      { command: 'make clean', found: 'stdout' },
    ]);
    expect(await search(journal, { process: '^git', regex: true })).toHaveLength(2);
    expect(await search(journal, { process: 'originsh' })).toEqual([]);
    expect(await search(journal, { process: 'origin\x1fsh' })).toEqual([]);
    expect(await search(journal, { process: '' })).toHaveLength(2);
  });

  it.each([3_000, 50_000, 500_000])('looks at all of an output of twice %i', async (length) => {
    const stdout = `first ${'x'.repeat(length)} MID\x1b[1mdle ${'y'.repeat(length)} last`;
    const compiler = `cc ${'-I/x '.repeat(9_000)} z.c`;
    const journal = journalOf({ stdout, process_list: ['make', compiler] });
    expect(await search(journal, { text: 'first' })).toMatchObject([{ offset: 0 }]);
    expect(await search(journal, { text: 'last' })).toMatchObject([{ offset: stdout.length - 4 }]);
    expect(await search(journal, { text: ' middle ' })).toMatchObject([{ offset: length + 6 }]);
    expect(await search(journal, { text: 'xy' })).toEqual([]);
    expect(await search(journal, { text: 'mid.le', regex: true })).toHaveLength(1);
    expect(await search(journal, { process: '/X Z.c' })).toEqual([]);
    expect(await search(journal, { process: '/x  Z.c' })).toHaveLength(1);
  });

  it('says which lines and outputs it could not look at', async () => {
    const journal = journalOf({ output_truncated: true }, {}, { output_truncated: true });
    appendFileSync(journal.path(SESSION), 'rubbish\n\0\0\n{"entry_id":"e_torn');
    const catalog = await journal.open();
    catalog.refresh();
    for (const [query, cutOutputs] of [
      [{ text: '', limit: 20 }, 2],
      [{ text: '', limit: 20, since: NOW + 2000 }, 1],
    ] as const) {
      const unsearched = { damagedLines: 2, cutOutputs };
      expect(catalog.unsearched(query)).toEqual(unsearched);
      expect(scanUnsearched(journal.directory, query)).toEqual(unsearched);
    }
    catalog.close();
  });

  it('can be narrowed by time, end and agent', async () => {
    const journal = journalOf(
      { command: 'a', exit_code: 0, agent_id: 'claude-code' },
      { command: 'b', exit_code: 2, agent_id: 'codex' },
      { command: 'c', exit_code: null, timed_out: true, agent_id: null },
    );
    const commands = async (query: Partial<SearchQuery>) =>
      (await search(journal, query)).map(({ command }) => command);
    expect(await commands({})).toEqual(['c', 'b', 'a']);
    expect(await commands({ exit: 2 })).toEqual(['b']);
    expect(await commands({ exit: 'nonzero' })).toEqual(['c', 'b']);
    expect(await commands({ agent: 'codex' })).toEqual(['b']);
    expect(await commands({ since: NOW + 2000 })).toEqual(['c', 'b']);
    expect(await commands({ limit: 1 })).toEqual(['c']);
    expect(await commands({ limit: 0 })).toEqual([]);
  });

  it('gives the newest first, across sessions that were written at the same time', async () => {
    const journal = new Journal();
    for (let i = 1; i <= 60; i += 1) {
      const timestamp = entryTimestamp(NOW + i * 700);
      const session = i % 3 === 0 ? OTHER : SESSION;
      journal.append(session, journal.entry(session, i, { timestamp }));
    }
    const hits = await search(journal, { text: 'status', limit: 40 });
    expect(hits.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 40 }, (_, i) => 60 - i),
    );
  });
});

describe('the searched text', () => {
  const pieces = fc.constantFrom(
    'a',
    'é',
    '\u{1f600}',
    '\x1b[31m',
    '\x1b]0;t\x07',
    '\x1bP',
    '\x07',
    '\n',
  );
  const fields = fc.array(pieces, { maxLength: 60 }).map((all) => all.join(''));

  it('has no escape sequence, and each of its characters is where the field has it', () => {
    fc.assert(
      fc.property(fields, fc.constantFrom(1, 100), (piece, times) => {
        const field = piece.repeat(times);
        const searched = searchedText(field);
        expect(searched).not.toMatch(/[\x1b\x07]/);
        for (let i = 0; i < searched.length; i += 1 + (i >> 4)) {
          expect(field[placeInField(field, i)]).toBe(searched[i]);
        }
      }),
    );
  });

  it.each(['\x1b[', '\x1b]', '\x1bP', '\x1b', '\x9b', '\x1b]0;', '\ud800', '\0'])(
    'of a field full of %j takes no time to speak of',
    (piece) => {
      expect(searchedText(piece.repeat(200_000)).length).toBeLessThanOrEqual(800_000);
    },
  );
});

describe('the folded text', () => {
  it('has the same letter for every two that match, in all of Unicode', () => {
    const wrong: string[] = [];
    for (let code = 0x80; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const letter = String.fromCodePoint(code);
      for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
        if (other === letter || Array.from(other).length !== 1) continue;
        const matches = matcherOf(letter, false).find(other) !== undefined;
        const same = folded(letter).toLowerCase() === folded(other).toLowerCase();
        if (matches && !same) wrong.push(`${letter} ${other}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
