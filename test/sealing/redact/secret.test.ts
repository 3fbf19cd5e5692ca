// A secret that was recorded anywhere, however it was encoded: after it was redacted, no file below
// the state root and the journal has it.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCatalog } from '../../../src/journal/catalog.ts';
import { cleanseCatalog } from '../../../src/journal/catalog-cleanse.ts';
import { appendEdits } from '../../../src/journal/edits.ts';
import { readSession } from '../../../src/journal/reader.ts';
import { loadLibsql, loadNodeSqlite } from '../../../src/journal/sqlite.ts';
import { startSession } from '../../../src/journal/writer.ts';
import { findSecret, redactPlace } from '../../../src/sealing/redact/secret.ts';
import { OneSecret } from '../../../src/text/secrets/one-secret.ts';
import { draftOf, FACTS } from '../../journal/helper.ts';
import { ENCODINGS, planted } from '../../text/secrets/planted.ts';
import { ME } from '../helper.ts';
import { RedactWorld } from './helper.ts';

const VALUE = 'correct-horse/"battery"+staple é';

/** As programs print it; of base64 at each of its three places. */
const SHOWN = [
  VALUE,
  JSON.stringify(VALUE).slice(1, -1),
  JSON.stringify(JSON.stringify(VALUE)).slice(3, -3),
  encodeURIComponent(VALUE),
  ...[0, 1, 2].map((before) => Buffer.from(`${'-'.repeat(before)}${VALUE}`).toString('base64')),
  Buffer.from(VALUE).toString('hex'),
];

/** What an eye, or grep, would know these by: the ends of base64 are its neighbours', too. */
const FORMS = SHOWN.map((form, at) => (at >= 4 && at <= 6 ? form.slice(4, -4) : form));

const EDIT = {
  timestamp: '2026-01-18T14:30:52.123Z',
  tool: 'Write',
  lines_added: null,
  lines_removed: null,
  hash_before: null,
  hash_after: null,
  failed: false,
  agent_id: null,
  conversation_id: null,
  tool_call_id: null,
};

async function redact(world: RedactWorld, value: string, ledger = world.ledger()) {
  const secret = new OneSecret(value);
  const search = { store: world.store, directories: [world.journal] };
  const places = findSecret(secret, search);
  const context = world.context(ledger);
  for (const place of places) await redactPlace(place, secret, context);
  for (const place of places) {
    if (place.kind === 'catalog') cleanseCatalog(place.directory, () => world.time);
  }
  return { places, left: findSecret(secret, search) };
}

/** A copy of the output, a log and an approval. */
function filesBeside(world: RedactWorld, dir: string, shown: string) {
  fs.mkdirSync(join(dir, 'text'));
  fs.writeFileSync(join(dir, 'text', 'all.txt'), shown);
  fs.mkdirSync(join(world.root, 'logs'));
  const log = join(world.root, 'logs', 'derun.log');
  fs.writeFileSync(log, `{"error":${JSON.stringify(shown)},"n":1}\n`);
  fs.mkdirSync(join(world.root, 'approvals'));
  const ask = join(world.root, 'approvals', 'abcdefgh.ask.json');
  fs.writeFileSync(ask, JSON.stringify({ command: shown, at: 5 }));
  return { ask, log };
}

describe('a secret', () => {
  it('is taken out of entries, captures, logs, approvals and the catalog', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const shown = SHOWN.map((form) => `[${form}]`).join(' ');
    const session = await world.sessionOf(
      ledger,
      [
        { command: `deploy ${shown}` },
        { command: 'x', stdout: `begin ${shown} end\n`, stderr: 'nothing' },
        { command: 'y', environment: { SAFE: 'yes', MINE: VALUE }, process_list: [`a ${shown}`] },
        { command: 'z', working_directory: `/srv/${VALUE}`, stdout: 'kept' },
      ],
      { stdout: shown, stderr: '' },
    );
    const edits = [VALUE, 'b', `c ${VALUE}`].map((path) => ({ ...EDIT, path }));
    await appendEdits(world.journal, session, edits, world.env(ledger));
    const { dir } = await world.captureOf(ledger, { output: shown, command: shown });
    const { ask, log } = filesBeside(world, dir, shown);
    const catalog = await openCatalog(world.journal, { now: () => world.time });
    catalog.refresh();
    catalog.close();
    expect(fs.existsSync(join(world.journal, 'catalog.db'))).toBe(true);
    expect(FORMS.filter((form) => world.filesWith(form).length === 0)).toEqual([]);

    const { places, left } = await redact(world, VALUE, ledger);
    expect(places.map(({ kind }) => kind)).toEqual([
      'session',
      'catalog',
      'capture',
      'file',
      'file',
    ]);
    expect(left).toEqual([]);
    expect(FORMS.flatMap((form) => world.filesWith(form))).toEqual([]);

    // All else is there, and can be read.
    expect(JSON.parse(fs.readFileSync(ask, 'utf8'))).toMatchObject({ at: 5 });
    expect(JSON.parse(fs.readFileSync(log, 'utf8'))).toMatchObject({ n: 1 });
    const entries = readSession(world.journal, session)?.entries ?? [];
    expect(entries.map(({ redacted }) => redacted)).toEqual([
      ['text'],
      ['stdout'],
      ['text'],
      ['facts'],
    ]);
    expect(entries[1]?.stderr).toBe('nothing');
    expect(entries[3]?.stdout).toBe('kept');
    expect(entries[3]?.working_directory).toBe(`/srv/${'*'.repeat(Buffer.byteLength(VALUE))}`);
    const { intact, words } = await world.verified(ledger);
    expect([intact, words.length]).toEqual([true, 6]);
    const again = await openCatalog(world.journal, { now: () => world.time });
    again.refresh();
    expect(again.search({ text: 'kept', limit: 5 })).toHaveLength(1);
    again.close();
  });

  it('of every kind in every encoding is found by nothing afterwards', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const all = [...new Map(planted('redact').map((one) => [one.kind, one])).values()];
    expect(all.length).toBeGreaterThanOrEqual(30);
    const session = await world.sessionOf(
      ledger,
      all.map(({ text }) => ({
        command: 'x',
        stdout: ENCODINGS.map(([, encode]) => `${encode(text)}\n`).join('-\n'),
      })),
    );
    await world.captureOf(ledger, {
      output: all.flatMap(({ text }) => ENCODINGS.map(([, encode]) => encode(text))).join('\n'),
    });
    for (const { secret } of all) {
      const { left } = await redact(world, secret, ledger);
      expect(left).toEqual([]);
    }
    const bytes = world.filesWith('').map((path) => fs.readFileSync(path).toString('latin1'));
    const found = all.filter(({ secret }) => {
      // Of keys with lines, any line; of base64 what its neighbours do not change.
      const [line = ''] = secret
        .split('\n')
        .filter((one) => one.length >= 8 && !one.startsWith('--'));
      const forms = [line, JSON.stringify(line).slice(1, -1), Buffer.from(line).toString('hex')];
      return bytes.some((one) => forms.some((form) => one.includes(form)));
    });
    expect(found.map(({ kind }) => kind)).toEqual([]);
    expect(readSession(world.journal, session)?.entries).toHaveLength(all.length);
    expect((await world.verified(ledger)).intact).toBe(true);
  }, 300_000);

  it('is not looked for in numbers, and stays where a process writes', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const session = await world.sessionOf(ledger, [{ command: 'x', duration_ms: 12_345_678 }]);
    expect(await redact(world, '12345678', ledger)).toEqual({ places: [], left: [] });
    const writer = startSession(world.journal, { ...FACTS, owner: ME }, world.env(ledger));
    await writer.append(draftOf({ stdout: VALUE }));
    const search = { store: world.store, directories: [world.journal] };
    const [place] = findSecret(new OneSecret(VALUE), search);
    expect(place).toMatchObject({ kind: 'session', session: writer.id, live: true });
    expect(session).not.toBe(writer.id);
  });

  it('in the ledger itself is named, and not touched', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    await world.sessionOf(ledger, [{ command: 'x', agent_id: 'agent-SECRET-NAME' }]);
    const before = world.bytes('leaves');
    const { left } = await redact(world, 'agent-SECRET-NAME', ledger);
    expect(left.map((place) => ('path' in place ? place.path : place.kind))).toEqual([
      world.path('leaves'),
    ]);
    expect(world.bytes('leaves').subarray(0, before.length)).toEqual(before);
  });
});

describe('a catalog', () => {
  it.each([loadNodeSqlite(), loadLibsql()].filter((one) => one !== undefined))(
    'of $name has no free page with what was taken out, also of long entries',
    async (sqlite) => {
      const world = new RedactWorld();
      const ledger = world.ledger();
      await world.sessionOf(ledger, [
        { command: `x ${VALUE}`, stdout: `${'long '.repeat(9_000)} ${VALUE}` },
        ...Array.from({ length: 50 }, (_, at) => ({ command: `${at} SECOND-SECRET ${at}` })),
      ]);
      const options = { now: () => world.time, sqlite: () => sqlite };
      const catalog = await openCatalog(world.journal, options);
      catalog.refresh();
      catalog.close();
      await redact(world, 'SECOND-SECRET', ledger);
      expect(cleanseCatalog(world.journal, () => world.time, sqlite)).toBe('cleansed');
      expect(world.filesWith('SECOND-SECRET')).toEqual([]);
    },
  );

  it('that another process has open is made anew', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    await world.sessionOf(ledger, [{ command: `x ${VALUE}` }]);
    const open = await openCatalog(world.journal, { now: () => world.time });
    open.refresh();
    const { left } = await redact(world, VALUE, ledger);
    expect(left).toEqual([]);
    expect(open.refresh()).toEqual({ done: true });
    expect(open.search({ text: 'battery', limit: 5 })).toEqual([]);
    open.close();
    expect(world.filesWith('battery')).toEqual([]);
  });

  it('is no trouble where there is none', () => {
    const world = new RedactWorld();
    expect(cleanseCatalog(world.journal, () => world.time)).toBe('none');
  });
});
