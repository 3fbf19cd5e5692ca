// Captures of a sandbox on their way to the state root: what comes home, what stays because it may
// be forged, and that nothing is lost or doubled wherever the way is interrupted.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SpoolIo } from '../../src/shell/spool-folder.ts';
import { capturesIn } from '../../src/shell/spool-look.ts';
import type { JournalIntent } from '../../src/types.ts';
import { SpoolWorld } from './spool-helper.ts';

function intent(directory: string, sessionId: string | null = null): JournalIntent {
  const decision = { verdict: 'allow', mode: 'enforce' } as unknown;
  return {
    directory,
    sessionId,
    captureOutput: true,
    outputBytesMax: 1000,
    redact: false,
    draft: {
      timestamp: '2026-01-02T03:04:05.000000Z',
      command: 'echo one',
      description: null,
      working_directory: '/',
      shell: 'sh',
      timeout_seconds: 0,
      environment: null,
      agent_id: null,
      conversation_id: null,
      tool_call_id: null,
      opencuff_version: '1',
      plugin_version: '1',
      trace_id: null,
      context_source: null,
      decision: decision as JournalIntent['draft']['decision'],
    },
  };
}

describe('a spooled capture', () => {
  it('comes home with its bytes, without its processes, marked as what it is', async () => {
    const world = new SpoolWorld();
    const dir = world.capture('one');
    expect(fs.statSync(join(world.project, '.cuff', 'spool')).mode & 0o7777).toBe(0o700);
    expect(fs.readFileSync(join(world.project, '.cuff', 'spool', '.gitignore'), 'utf8')).toBe(
      '*\n',
    );
    expect(await world.home()).toBe(1);
    expect(world.ids()).toEqual(['one']);
    expect(world.read('one', 'output.bin')).toBe('output of one\n');
    const meta = JSON.parse(world.read('one', 'meta.json'));
    expect(meta).toMatchObject({ session_id: 'one', source: 'spool', command: ['echo', 'one'] });
    expect(meta).not.toHaveProperty('runner_pid');
    expect(JSON.parse(world.read('one', 'final.json'))).toMatchObject({
      exit_code: 3,
      survivors: [],
    });
    expect(fs.existsSync(dir)).toBe(false);
    expect(fs.readdirSync(join(world.root, 'incoming'))).toEqual([]);
    expect(await world.home()).toBe(0);
  });

  it('is never believed about a decision, and its entry goes to its own project', async () => {
    const world = new SpoolWorld();
    world.capture('own', { journal: intent(world.journal) });
    world.capture('other', { journal: intent('/somewhere/else/.cuff/recordings') });
    expect(await world.home()).toBe(2);
    const own = JSON.parse(world.read('own', 'meta.json'));
    expect(own.journal).toMatchObject({
      directory: world.journal,
      entry: { decision: null, source: 'spool' },
    });
    expect(JSON.parse(world.read('other', 'meta.json'))).not.toHaveProperty('journal');
  });

  it('gets another id where one outside has its own', async () => {
    const world = new SpoolWorld();
    world.capture('same');
    const home = join(world.root, 'sessions', 'same');
    fs.mkdirSync(home, { recursive: true, mode: 0o700 });
    fs.writeFileSync(join(home, 'output.bin'), 'untouched');
    expect(await world.home()).toBe(1);
    expect(world.read('same', 'output.bin')).toBe('untouched');
    const [, other = ''] = world.ids();
    expect(other).toMatch(/^same\.spool-[0-9a-f]{12}$/);
    expect(world.read(other, 'output.bin')).toBe('output of same\n');
  });

  it('stays for a moment while its entry is written from it', async () => {
    const world = new SpoolWorld();
    world.capture('entered', { journal: intent(world.journal, '20260102_030405_0000') });
    world.capture('owed', { journal: intent(world.journal) });
    expect(await world.home()).toBe(1);
    expect(world.ids()).toEqual(['owed']);
    expect(await world.home({}, 120_000)).toBe(1);
    expect(world.ids()).toEqual(['entered', 'owed']);
  });

  it('stays while its runner reads orders, or while it may not have begun', async () => {
    const world = new SpoolWorld();
    const dir = world.capture('young', { ended: false });
    expect(await world.home()).toBe(0);
    const old = new Date(Date.now() - 3_600_000);
    for (const name of fs.readdirSync(dir)) fs.utimesSync(join(dir, name), old, old);
    fs.utimesSync(dir, old, old);
    expect(await world.home()).toBe(1);
    expect(world.ids()).toEqual(['young']);
  });
});

/** What a repository, or a process in the sandbox, can put there; each is refused. */
const HOSTILE: Readonly<Record<string, (dir: string, world: SpoolWorld) => void>> = {
  'a directory that is open to others': (dir) => fs.chmodSync(dir, 0o755),
  'sessions that are open to others': (dir) => fs.chmodSync(join(dir, '..'), 0o755),
  'a spool that is open to others': (dir) => fs.chmodSync(join(dir, '..', '..'), 0o755),
  'a .cuff that others may write': (dir) => fs.chmodSync(join(dir, '..', '..', '..'), 0o777),
  'a file that is open to others': (dir) => fs.chmodSync(join(dir, 'output.bin'), 0o644),
  'no mark': (dir) => fs.rmSync(join(dir, 'spooled')),
  'the mark of another directory': (dir) => {
    const copy = `${dir}-copy`;
    fs.cpSync(dir, copy, { recursive: true });
    fs.rmSync(dir, { recursive: true });
    fs.chmodSync(copy, 0o700);
  },
  'a link as output': (dir, world) => {
    const secret = join(world.dir, 'secret');
    fs.writeFileSync(secret, 'secret', { mode: 0o600 });
    fs.rmSync(join(dir, 'output.bin'));
    fs.symlinkSync(secret, join(dir, 'output.bin'));
  },
  'a second name of a foreign file as output': (dir, world) => {
    const secret = join(world.dir, 'secret');
    fs.writeFileSync(secret, 'secret', { mode: 0o600 });
    fs.rmSync(join(dir, 'output.bin'));
    fs.linkSync(secret, join(dir, 'output.bin'));
  },
  'a directory as output': (dir) => {
    fs.rmSync(join(dir, 'output.bin'));
    fs.mkdirSync(join(dir, 'output.bin'), { mode: 0o700 });
  },
  'a meta.json that is too large': (dir) =>
    fs.writeFileSync(join(dir, 'meta.json'), ' '.repeat(5 * 1024 * 1024)),
  'a meta.json that is none': (dir) => fs.writeFileSync(join(dir, 'meta.json'), '[]\n'),
  'output that is larger than any': (dir) =>
    fs.truncateSync(join(dir, 'output.bin'), 3 * 1024 ** 3),
  'a capture that is a link': (dir, world) => {
    fs.renameSync(dir, join(world.dir, 'elsewhere'));
    fs.symlinkSync(join(world.dir, 'elsewhere'), dir);
  },
  'a spool that is a link': (dir, world) => {
    const spool = join(dir, '..', '..');
    fs.renameSync(spool, join(world.dir, 'elsewhere'));
    fs.symlinkSync(join(world.dir, 'elsewhere'), spool);
  },
  'a .cuff that is a link': (dir, world) => {
    const cuff = join(dir, '..', '..', '..');
    fs.renameSync(cuff, join(world.dir, 'elsewhere'));
    fs.symlinkSync(join(world.dir, 'elsewhere'), cuff);
  },
};

describe('a spool with', () => {
  it.each(Object.keys(HOSTILE))('%s brings nothing home and keeps what it has', async (kind) => {
    const world = new SpoolWorld();
    const dir = world.capture('forged');
    HOSTILE[kind]?.(dir, world);
    const before = listing(world.project);
    expect(await world.home()).toBe(0);
    expect(world.ids()).toEqual([]);
    expect(listing(world.project)).toEqual(before);
    const secret = join(world.dir, 'secret');
    if (fs.existsSync(secret)) expect(fs.readFileSync(secret, 'utf8')).toBe('secret');
  });

  it('a link on the way is not even looked into', () => {
    const world = new SpoolWorld();
    const there = (): boolean => capturesIn(world.project);
    const dir = world.capture('one');
    expect(there()).toBe(true);
    HOSTILE['a spool that is a link']?.(dir, world);
    expect(there()).toBe(false);
  });

  it('an id that is none leads nowhere', async () => {
    const world = new SpoolWorld();
    const dir = world.capture('good');
    fs.renameSync(dir, join(dir, '..', '-bad'));
    expect(await world.home()).toBe(0);
    expect(fs.existsSync(world.root)).toBe(false);
  });

  it('a capture of another user brings nothing home', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('needs root to give files away');
    const world = new SpoolWorld();
    const dir = world.capture('theirs');
    fs.chownSync(dir, 65534, 65534);
    expect(await world.home()).toBe(0);
    fs.chownSync(dir, 0, 0);
    fs.chownSync(join(dir, 'output.bin'), 65534, 65534);
    expect(await world.home()).toBe(0);
    expect(world.logged.join()).toContain('output.bin belongs to another user');
  });

  it('more captures than one go takes is emptied by several', async () => {
    const world = new SpoolWorld();
    for (let i = 0; i < 12; i++) world.capture(`c${i}`);
    expect(await world.home({ enough: () => true })).toBe(8);
    expect(await world.home({ enough: () => true })).toBe(4);
    expect(world.ids()).toHaveLength(12);
  });
});

/** All paths with their modes. */
function listing(dir: string): string[] {
  return fs
    .readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name} ${fs.lstatSync(join(dir, name)).mode}`)
    .sort();
}

class Killed extends Error {}

/** As SIGKILL does it: the Nth operation does not happen, nor any that would follow. */
function dyingAt(n: number): { readonly io: SpoolIo; readonly count: () => number } {
  let count = 0;
  const io = new Proxy(fs, {
    get(target, name) {
      const real = Reflect.get(target, name);
      if (typeof real !== 'function') return real;
      return (...words: readonly unknown[]) => {
        count += 1;
        if (count >= n && name !== 'closeSync') throw new Killed();
        return Reflect.apply(real, target, words);
      };
    },
  });
  return { io, count: () => count };
}

/** The Nth operation fails with this errno, those that follow work. */
function failingAt(n: number, code: string): SpoolIo {
  let count = 0;
  return new Proxy(fs, {
    get(target, name) {
      const real = Reflect.get(target, name);
      if (typeof real !== 'function') return real;
      return (...words: readonly unknown[]) => {
        count += 1;
        if (count === n && name !== 'closeSync') throw Object.assign(new Error(code), { code });
        return Reflect.apply(real, target, words);
      };
    },
  });
}

describe('interrupted at every step', () => {
  it('by SIGKILL, the next process moves the rest: nothing is lost or doubled', async () => {
    const whole = dyingAt(Number.POSITIVE_INFINITY);
    const first = new SpoolWorld();
    first.capture('a');
    first.capture('b');
    expect(await first.home({ io: whole.io })).toBe(2);
    const steps = whole.count();
    expect(steps).toBeGreaterThan(60);
    for (let n = 1; n <= steps; n++) {
      const world = new SpoolWorld();
      world.capture('a');
      world.capture('b');
      await world.home({ io: dyingAt(n).io }).catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error;
      });
      await world.home({}, 3_600_000);
      expect(world.ids(), `step ${n}`).toEqual(['a', 'b']);
      for (const id of ['a', 'b']) {
        expect(world.read(id, 'output.bin'), `step ${n}`).toBe(`output of ${id}\n`);
        expect(JSON.parse(world.read(id, 'final.json')).exit_code).toBe(3);
      }
      const left = fs.readdirSync(join(world.project, '.cuff', 'spool', 'sessions'));
      expect(left, `step ${n}`).toEqual([]);
      expect(fs.readdirSync(join(world.root, 'incoming')), `step ${n}`).toEqual([]);
      fs.rmSync(world.dir, { recursive: true });
    }
  });

  it.each(['ENOSPC', 'EIO'])('by %s, the capture is home or in its spool', async (code) => {
    for (let n = 1; n <= 70; n++) {
      const world = new SpoolWorld();
      world.capture('a');
      await world.home({ io: failingAt(n, code) });
      await world.home();
      expect(world.ids(), `step ${n}`).toEqual(['a']);
      expect(world.read('a', 'output.bin')).toBe('output of a\n');
      expect(fs.readdirSync(join(world.root, 'incoming')), `step ${n}`).toEqual([]);
      fs.rmSync(world.dir, { recursive: true });
    }
  });
});
