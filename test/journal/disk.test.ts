// Real disks that are full, read-only or forbidden.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import { Sessions } from '../../src/journal/sessions.ts';
import { type SessionWriter, startSession } from '../../src/journal/writer.ts';
import type { Entry } from '../../src/types.ts';
import { compile } from '../capture/helper.ts';
import { lacking } from '../requirements.ts';
import { draftOf, FACTS, NOBODY, OWNER, tempDir } from './helper.ts';

const disk = fs.mkdtempSync(join(tmpdir(), 'cuff-journal-disk-'));
const noMount = lacking(!canMount(), 'mounting a small tmpfs needs root');
const env = { now: Date.now };

afterAll(() => {
  if (!noMount) execFileSync('umount', ['-l', disk]);
  fs.rmSync(disk, { recursive: true, force: true });
});

function canMount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=0700', 'cuff-test', disk], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false; // not root, or in a container that may not mount
  }
}

describe.skipIf(noMount)('a small disk', () => {
  it('that is full refuses entries, and with room again there is a new session', async () => {
    const directory = join(disk, 'full');
    const options = { directory, mode: 'continuous', workingDirectory: '/', owner: OWNER } as const;
    const sessions = new Sessions({ ...options, env });
    const written: Entry[] = [];
    const refusals: string[] = [];
    const run = async (): Promise<void> => {
      let writer: SessionWriter | undefined;
      try {
        writer = sessions.writerFor(NOBODY);
        written.push(await writer.append(draftOf({ stdout: 'x'.repeat(10_000) })));
      } catch (error) {
        refusals.push(String(error));
        if (writer !== undefined) sessions.replaceBroken(writer);
      }
    };
    for (let n = 0; n < 40; n += 1) await run();
    expect(written.length).toBeGreaterThan(10);
    expect(refusals.length).toBeGreaterThan(10);
    for (const refusal of refusals) expect(refusal).toContain('ENOSPC');
    const [first = ''] = journalSessionIds(directory);
    fs.appendFileSync(join(disk, 'spare'), ''); // the directory itself can still be written
    fs.truncateSync(join(directory, 'sessions', `${first}.jsonl`), 50_000);
    const before = written.filter(({ session_id }) => session_id !== first);
    await run();
    await run();
    const again = written.slice(-2);
    expect(new Set(again.map(({ session_id }) => session_id)).size).toBe(1);
    await sessions.closeAll('shutdown', 'server_stop');
    expect(readSession(directory, first)?.metadata).toMatchObject({ status: 'interrupted' });
    for (const entry of [...before, ...again]) {
      expect(readSession(directory, entry.session_id)?.entries).toContainEqual(entry);
    }
    fs.rmSync(directory, { recursive: true });
  });

  it('that becomes read-only refuses at once and works again afterwards', async () => {
    const directory = join(disk, 'readonly');
    const writer = startSession(directory, FACTS, env);
    await writer.append(draftOf());
    // An open file keeps a disk from becoming read-only.
    await writer.finalize('complete', 'over');
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    try {
      await expect(writer.append(draftOf())).rejects.toThrow(/EROFS/);
      expect(() => startSession(directory, FACTS, env)).toThrow(/EROFS/);
      expect(() => startSession(join(disk, 'new'), FACTS, env)).toThrow(/EROFS/);
      expect(readSession(directory, writer.id)?.entries).toHaveLength(1);
    } finally {
      execFileSync('mount', ['-o', 'remount,rw', disk]);
    }
    await startSession(directory, FACTS, env).append(draftOf());
    fs.rmSync(directory, { recursive: true });
  });
});

describe('a forbidden directory', () => {
  it('refuses a session and says what to do', () => {
    const directory = join(tempDir(), 'journal');
    const program = compile(`
      import { startSession } from '../../src/journal/writer.ts';
      try {
        startSession(process.argv[2], ${JSON.stringify(FACTS)}, { now: Date.now });
      } catch ({ code, message, hint }) {
        process.stdout.write([code, message, hint].join('\\n'));
      }
    `);
    fs.chmodSync(dirname(program), 0o755);
    fs.chmodSync(dirname(directory), 0o500);
    // Root may write everywhere, so there somebody else tries.
    const somebody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const said = execFileSync(process.execPath, [program, directory], {
      ...somebody,
      cwd: '/',
      encoding: 'utf8',
    });
    expect(said.split('\n')).toEqual([
      'journal_unwritable',
      `${directory} cannot be written: EACCES.`,
      `Look at the disk and the permissions of ${dirname(directory)}, or set recording.directory.`,
    ]);
  });
});

describe('the place of a journal', () => {
  it('that is a file refuses a session', () => {
    const file = join(tempDir(), 'file');
    fs.writeFileSync(file, '');
    expect(() => startSession(file, FACTS, env)).toThrow(/ENOTDIR/);
    expect(() => startSession(join(file, 'in'), FACTS, env)).toThrow(/ENOTDIR/);
  });

  it('is not reached over a link', async () => {
    const [real, link] = [tempDir(), join(tempDir(), 'link')];
    fs.symlinkSync(real, link);
    await startSession(real, FACTS, env).append(draftOf());
    expect(() => startSession(link, FACTS, env)).toThrow(`${link} is a symbolic link`);
    expect([journalSessionIds(real).length, journalSessionIds(link)]).toEqual([1, []]);
  });
});
