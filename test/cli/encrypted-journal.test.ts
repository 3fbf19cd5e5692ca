// A journal that is packed and encrypted: the commands that read it with an identity and without,
// and that no planted word is left below the state root or in the journal.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binary, Cli } from './helper.ts';

const cli = new Cli();
const config = join(cli.root, 'config');
const identity = join(config, 'cuff', 'identity');
const settings = join(config, 'cuff', 'settings.yml');
const project = join(cli.root, 'project');
const journal = join(project, '.cuff', 'recordings');
const sessions = join(journal, 'sessions');
fs.mkdirSync(project, { recursive: true });

afterAll(() => cli.close());

function cuff(...args: string[]) {
  const words = [process.execPath, binary('cuff'), ...args];
  const env = { XDG_CONFIG_HOME: config, XDG_RUNTIME_DIR: join(cli.root, 'none'), NO_COLOR: '1' };
  const live = cli.start(words, { cwd: project, env });
  live.child.stdin?.end();
  return live.result;
}

/** Files below the state root and in the journal that have it, in any letters. */
function filesWith(word: string): string[] {
  const names = fs.readdirSync(cli.root, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => {
    const path = join(cli.root, name);
    if (name.startsWith('config') || !fs.statSync(path).isFile()) return false;
    return fs.readFileSync(path, 'latin1').toLowerCase().includes(word);
  });
}

/** As if all that was written was a day older. */
function aDayLater(): void {
  const then = new Date(Date.now() - 25 * 3_600_000);
  for (const name of fs.readdirSync(sessions)) fs.utimesSync(join(sessions, name), then, then);
}

const sessionId = (): string =>
  fs
    .readdirSync(sessions)
    .find((name) => name.endsWith('.meta.json'))
    ?.replace('.meta.json', '') ?? '';

const READERS: readonly (readonly string[])[] = [
  ['record', 'show', '2', '--entries', '--output'],
  ['record', 'stats', '--format', 'json'],
  ['record', 'search', 'wombat'],
  ['record', 'export', '2', '--format', 'json'],
  ['record', 'export', 'all', '--format', 'csv'],
  ['record', 'review'],
  ['record', 'generate'],
  ['record', 'leaks'],
];

/** Without what differs between two calls. */
const stable = (out: string): string =>
  out.replace(
    /"captures":\{[^}]*\}|,"sessions_packed":\{[^}]*\}|\[[0-9a-f]{8}\]|# Generated: .*/g,
    '',
  );

async function read(): Promise<string[]> {
  const all = await Promise.all(READERS.map((args) => cuff(...args)));
  return all.map(({ code, out }, i) => `${READERS[i]?.join(' ')} [${code}]\n${stable(out)}`);
}

describe('a journal with recipients', () => {
  let before: string[] = [];
  let recipient = '';

  it('has no word of a command on the disk a day later, and reads as before', async () => {
    for (const words of ['echo wombat one; exit 3', 'echo wombat two', 'echo wombat three']) {
      await cuff('run', '--journal', '--', 'sh', '-c', words);
    }
    before = await read();
    expect(before.join('\n')).toContain('wombat');
    expect(filesWith('wombat')).toContain('project/.cuff/recordings/catalog.db');
    recipient = (await cuff('identity')).out.trim();
    fs.writeFileSync(settings, `encryption:\n  recipients: [${recipient}]\n`);
    aDayLater();
    // Captures wait for ten seconds whether their command gets an entry.
    for (const dir of fs.readdirSync(join(cli.root, 'sessions'))) {
      const path = join(cli.root, 'sessions', dir, 'final.json');
      const text = fs.readFileSync(path, 'utf8');
      const ended = new Date(Date.now() - 60_000).toISOString();
      fs.writeFileSync(path, text.replace(/"ended_at":"[^"]*/, `"ended_at":"${ended}`));
    }
    const swept = await cuff('sweep');
    expect([swept.code, swept.err]).toEqual([0, expect.stringContaining('Packed 1 session.')]);
    expect(filesWith('wombat')).toEqual([]);
    expect(await read()).toEqual(before);
    expect(filesWith('wombat')).toEqual([]);
    expect((await cuff('record', 'stats')).out).toMatch(
      /^Sessions: 1 packed, \d.* KiB in \d+ B \(\d.\d:1\)$/m,
    );
    const verified = await cuff('verify');
    expect([verified.code, verified.out]).toEqual([
      0,
      expect.stringContaining('3 sealed entries in 1 session: as they were sealed'),
    ]);
    expect((await cuff('record', 'reindex')).out).toContain('Indexed 3 commands');
    const [entry] = /e_\d{8}_\d{6}_002-\w{4}/.exec(before[3] ?? '') ?? [''];
    const proof = await cuff('prove', entry, '--show', 'text');
    expect([proof.code, proof.out]).toEqual([0, expect.stringContaining('wombat two')]);
    expect(filesWith('wombat')).toEqual([]);
  });

  it('says without an identity for whom it is; lists, cleaning and verifying go on', async () => {
    fs.renameSync(identity, `${identity}.away`);
    const whom = `The session ${sessionId()} is encrypted for ${recipient}.`;
    const others = [
      ['record', 'reindex'],
      ['prove', `${sessionId()}#1`],
      ['redact', '2', '1', '--parts', 'stdout', '--why', 'x', '--yes'],
    ];
    const readers = [...READERS, ...others];
    for (const { code, out, err } of await Promise.all(readers.map((args) => cuff(...args)))) {
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain(whom);
      expect(err).toContain(`There is no identity in ${identity}; name the file`);
    }
    const cleaned = await cuff('record', 'clean', '--older-than', '1d', '--dry-run');
    expect([cleaned.code, cleaned.err]).toEqual([0, '']);
    for (const args of [['list'], ['list', '--since', '3d'], ['list', '--json']]) {
      const listed = await cuff('record', ...args);
      expect([listed.code, listed.out]).toEqual([0, expect.stringContaining('shutdown')]);
    }
    const verified = await cuff('verify');
    expect(verified.out).toContain('3 entries were not compared: encrypted, and no identity here');
    expect(verified.out).not.toContain('WRONG');
    const secret = await cuff('redact', '--secret', 'wombats and more', '--yes');
    expect(secret.err).toContain('Not searched: 1 session that no identity here reads.');
    fs.renameSync(`${identity}.away`, identity);
  });

  it('goes on plain, is searched as one, and is packed again', async () => {
    await cuff('run', '--journal', '--', 'sh', '-c', 'echo wombat four');
    const found = await cuff('record', 'search', 'wombat');
    expect(found.out.match(/wombat (one|two|three|four)/g)?.sort()).toEqual(
      ['wombat four', 'wombat one', 'wombat three', 'wombat two'].sort(),
    );
    expect(filesWith('wombat').filter((name) => name.includes('catalog'))).toEqual([]);
    aDayLater();
    expect((await cuff('sweep')).err).toContain('Packed 1 session.');
    expect(filesWith('wombat').filter((name) => name.startsWith('project'))).toEqual([]);
  });

  it('is redacted, and stays encrypted and provable', async () => {
    const done = await cuff('redact', '--secret', 'wombat three', '--yes');
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('Redacted in')]);
    const verified = await cuff('verify');
    expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('redacted: text')]);
    const found = (await cuff('record', 'search', 'wombat')).out;
    expect(found).not.toContain('wombat three');
    expect(found).toContain('wombat two');
    expect(filesWith('wombat').filter((name) => name.startsWith('project'))).toEqual([]);
  });
});
