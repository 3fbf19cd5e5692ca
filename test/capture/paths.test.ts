import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assertSessionId,
  captureDir,
  ensurePrivateDir,
  ensureRoot,
  newSessionId,
  openIn,
  replaceIn,
  sessionIdTime,
  stateRoot,
} from '../../src/capture/paths.ts';
import { AppError } from '../../src/errors.ts';
import { NOW, program, tempDir } from './helper.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_RDWR, O_TRUNC, O_APPEND, O_EXCL } = constants;

function codeOf(action: () => unknown): string {
  try {
    action();
    return 'done';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

function captureIn(root: string, id = 'one'): string {
  const dir = join(root, 'sessions', id);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}

describe('the state root', () => {
  it('is what the environment names, else the place of the platform', () => {
    const home = '/home/you';
    const root = (env: Record<string, string>, platform = 'linux'): string =>
      stateRoot(env, platform, home);
    expect(root({})).toBe('/home/you/.local/state/derun');
    expect(root({ XDG_STATE_HOME: '/x/state' })).toBe('/x/state/derun');
    expect(root({ XDG_STATE_HOME: 'x/state' })).toBe('/home/you/.local/state/derun');
    expect(root({ XDG_STATE_HOME: '' })).toBe('/home/you/.local/state/derun');
    expect(root({ XDG_STATE_HOME: '/x', DERUN_STATE_ROOT: '/d' })).toBe('/d');
    expect(root({ DERUN_STATE_ROOT: '/d', CUFF_STATE_ROOT: '/c' })).toBe('/c');
    expect(root({ CUFF_STATE_ROOT: '', DERUN_STATE_ROOT: '/d' })).toBe('/d');
    expect(root({ LOCALAPPDATA: 'C:\\Users\\you\\AppData\\Local' }, 'win32')).toBe(
      'C:\\Users\\you\\AppData\\Local\\derun\\state',
    );
    expect(stateRoot({ HOME: '/h' }, 'darwin')).toBe('/h/.local/state/derun');
    expect(stateRoot({}, 'linux')).toMatch(/^\/.*\/\.local\/state\/derun$/);
  });
});

describe('session ids', () => {
  it('name one directory below sessions, or are refused', () => {
    const good = [
      'a',
      'A.b_c-9',
      '_',
      '...',
      '.hidden',
      'x'.repeat(128),
      '20261115-213835-1a2b3c4d',
    ];
    const bad = ['', '.', '..', '-', '-x', 'a/b', '../x', 'a\\b', 'a b', 'a\0', 'a\n', 'é', '/etc'];
    for (const id of good) expect(captureDir('/r', id)).toBe(`/r/sessions/${id}`);
    for (const id of [...bad, 'x'.repeat(129)]) {
      expect(
        codeOf(() => assertSessionId(id)),
        JSON.stringify(id),
      ).toBe('session_id_invalid');
      expect(codeOf(() => captureDir('/r', id))).toBe('session_id_invalid');
    }
  });

  it('no accepted id leads out of sessions', () => {
    const hostile = fc.string({ unit: fc.constantFrom('.', '/', '\\', '-', 'a', '\0', '~') });
    fc.assert(
      fc.property(hostile, (id) => {
        if (codeOf(() => assertSessionId(id)) !== 'done') return;
        expect(captureDir('/r', id)).toBe(`/r/sessions/${id}`);
        expect(id).not.toMatch(/^\.{0,2}$|[/\\\0]/);
      }),
    );
  });

  it('generated ones say the second in UTC, sort by it and are valid', () => {
    expect(newSessionId(NOW, () => 0.1)).toBe('20261115-213835-19999999');
    expect(newSessionId(NOW, () => 0)).toBe('20261115-213835-00000000');
    expect(newSessionId(NOW, () => 1 - 2 ** -53)).toBe('20261115-213835-ffffffff');
    expect(sessionIdTime(newSessionId(NOW))).toBe(NOW - 123);
    expect(['20261115-213835', 'one', '20269915-213835-00000000'].map(sessionIdTime)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const ids = new Set(Array.from({ length: 1_000 }, () => newSessionId(NOW)));
    expect(ids.size).toBeGreaterThan(990);
    for (const id of ids) assertSessionId(id);
  });
});

describe('private directories', () => {
  it('are made 0700, and closed to others when they were there before', () => {
    const root = tempDir();
    const modeOf = (path: string): number => statSync(path).mode & 0o7777;
    const old = process.umask(0);
    try {
      ensurePrivateDir(join(root, 'a', 'b'));
      process.umask(0o277);
      ensurePrivateDir(join(root, 'c'));
    } finally {
      process.umask(old);
    }
    for (const mode of [0o755, 0o777, 0o750, 0o500, 0o701]) {
      const path = join(root, `was-${mode}`);
      mkdirSync(path);
      chmodSync(path, mode);
      ensurePrivateDir(path);
      expect(modeOf(path)).toBe(0o700);
    }
    expect(['a', 'a/b', 'c'].map((one) => modeOf(join(root, one)))).toEqual([448, 448, 448]);
  });

  it('a shared, linked or foreign place is not taken', () => {
    const root = tempDir();
    mkdirSync(join(root, 'shared'));
    chmodSync(join(root, 'shared'), 0o1777);
    mkdirSync(join(root, 'real'), { mode: 0o755 });
    symlinkSync('real', join(root, 'link'));
    symlinkSync('nowhere', join(root, 'dangling'));
    writeFileSync(join(root, 'file'), '');
    for (const name of ['shared', 'link', 'dangling', 'file']) {
      expect(
        codeOf(() => ensurePrivateDir(join(root, name))),
        name,
      ).toBe('path_unsafe');
    }
    expect(statSync(join(root, 'shared')).mode & 0o7777).toBe(0o1777);
    expect(statSync(join(root, 'real')).mode & 0o777).toBe(0o755);
    expect(existsSync(join(root, 'nowhere'))).toBe(false);
    expect(codeOf(() => ensurePrivateDir('/'))).toBe('path_unsafe');
  });

  it('the root may be a link to a directory, but not to nowhere', () => {
    const root = tempDir();
    mkdirSync(join(root, 'real'), { mode: 0o755 });
    symlinkSync('real', join(root, 'link'));
    symlinkSync('nowhere', join(root, 'dangling'));
    ensureRoot(join(root, 'link'));
    expect(statSync(join(root, 'real')).mode & 0o777).toBe(0o700);
    expect(codeOf(() => ensureRoot(join(root, 'dangling')))).toBe('path_unsafe');
  });
});

describe('opening a file of a capture', () => {
  const names = ['meta.json', 'final.json', 'output.bin', 'index.jsonl', 'events.jsonl'];
  const files = [...names, 'append.lock', 'control', 'pinned'];
  const ways = {
    read: O_RDONLY,
    write: O_WRONLY,
    create: O_WRONLY | O_CREAT,
    append: O_WRONLY | O_APPEND | O_CREAT,
    truncate: O_WRONLY | O_CREAT | O_TRUNC,
    exclusive: O_WRONLY | O_CREAT | O_EXCL,
    both: O_RDWR,
  };

  it('a symlink in the place of any file is refused, for reading and for writing', () => {
    for (const target of ['inside', 'outside', 'dangling', 'absolute']) {
      const root = tempDir();
      const dir = captureIn(root);
      const secret = join(root, 'secret');
      writeFileSync(secret, 'secret');
      writeFileSync(join(dir, 'other'), 'secret');
      const to = { inside: 'other', outside: '../../secret', dangling: 'none', absolute: secret };
      for (const name of files) {
        symlinkSync(to[target as keyof typeof to], join(dir, name));
        for (const [way, flags] of Object.entries(ways)) {
          const code = codeOf(() => closeSync(openIn(dir, name, flags)));
          expect(code, `${target} ${name} ${way}`).toBe('path_unsafe');
        }
        const replaced = codeOf(() => replaceIn(dir, name, 'new'));
        expect(replaced, `${target} ${name}`).toBe('path_unsafe');
        expect(lstatSync(join(dir, name)).isSymbolicLink()).toBe(true);
      }
      expect([readFileSync(secret, 'utf8'), existsSync(join(dir, 'none'))]).toEqual([
        'secret',
        false,
      ]);
    }
  });

  it('a symlinked capture or sessions directory is refused, also a dangling one', () => {
    const outside = tempDir();
    writeFileSync(join(outside, 'meta.json'), '{}');
    mkdirSync(join(outside, 'one'));
    writeFileSync(join(outside, 'one', 'meta.json'), '{}');
    const linkedId = tempDir();
    mkdirSync(join(linkedId, 'sessions'));
    symlinkSync(outside, join(linkedId, 'sessions', 'one'));
    const linkedSessions = tempDir();
    symlinkSync(outside, join(linkedSessions, 'sessions'));
    const dangling = tempDir();
    mkdirSync(join(dangling, 'sessions'));
    symlinkSync('/nowhere/at/all', join(dangling, 'sessions', 'one'));
    for (const root of [linkedId, linkedSessions, dangling]) {
      const dir = join(root, 'sessions', 'one');
      for (const [way, flags] of Object.entries(ways)) {
        expect(
          codeOf(() => closeSync(openIn(dir, 'meta.json', flags))),
          way,
        ).toBe('path_unsafe');
      }
      expect(codeOf(() => replaceIn(dir, 'meta.json', 'x'))).toBe('path_unsafe');
    }
    expect(readdirSync(outside).sort()).toEqual(['meta.json', 'one']);
    expect(readFileSync(join(outside, 'one', 'meta.json'), 'utf8')).toBe('{}');
  });

  it('names that lead elsewhere, and directories that are no capture, are refused', () => {
    const root = tempDir();
    const dir = captureIn(root);
    for (const name of ['../x', 'a/b', '..', '/etc/passwd', '../../secret']) {
      expect(
        codeOf(() => openIn(dir, name, O_RDONLY)),
        name,
      ).toBe('path_unsafe');
    }
    expect(codeOf(() => openIn(root, 'meta.json', O_RDONLY))).toBe('path_unsafe');
    const aliases = ['.', '..', '-x'].map((id) => `${root}/sessions/${id}`);
    for (const alias of aliases) {
      expect(codeOf(() => openIn(alias, 'meta.json', O_RDONLY))).toBe('session_id_invalid');
    }
  });

  it('only regular files are opened, and a FIFO only as control', async () => {
    const dir = captureIn(tempDir());
    mkdirSync(join(dir, 'final.json'));
    program('mkfifo', join(dir, 'output.bin'), join(dir, 'control'));
    const server = createServer().listen(join(dir, 'index.jsonl'));
    await new Promise((resolve) => server.once('listening', resolve));
    for (const name of ['final.json', 'output.bin', 'index.jsonl']) {
      for (const [way, flags] of Object.entries(ways)) {
        const code = codeOf(() => closeSync(openIn(dir, name, flags)));
        const refused = way === 'exclusive' || code === 'path_unsafe' || code === 'ENXIO';
        expect(refused, `${name} ${way} ${code}`).toBe(true);
      }
    }
    server.close();
    const reader = openIn(dir, 'control', O_RDONLY);
    closeSync(openIn(dir, 'control', O_WRONLY));
    closeSync(reader);
    // Without a reader the runner is gone, and that is an answer, not an attack.
    expect(codeOf(() => openIn(dir, 'control', O_WRONLY))).toBe('ENXIO');
  });

  it('files are 0600, also those that were there before and looser', () => {
    const dir = captureIn(tempDir());
    const old = process.umask(0);
    try {
      closeSync(openIn(dir, 'output.bin', O_WRONLY | O_CREAT));
      replaceIn(dir, 'final.json', 'x');
    } finally {
      process.umask(old);
    }
    writeFileSync(join(dir, 'index.jsonl'), '');
    chmodSync(join(dir, 'index.jsonl'), 0o666);
    closeSync(openIn(dir, 'index.jsonl', O_WRONLY | O_APPEND));
    const modes = ['output.bin', 'final.json', 'index.jsonl'].map(
      (name) => statSync(join(dir, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600, 0o600]);
  });

  it('a file that is not there is told apart from one that is not safe', () => {
    const dir = captureIn(tempDir());
    expect(codeOf(() => openIn(dir, 'meta.json', O_RDONLY))).toBe('ENOENT');
    expect(codeOf(() => openIn(join(dir, '..', 'two'), 'meta.json', O_RDONLY))).toBe('ENOENT');
  });
});

describe('replacing a file', () => {
  it('leaves the old file to those who have it open, and no temp file', () => {
    const dir = captureIn(tempDir());
    replaceIn(dir, 'meta.json', 'old');
    const kept = join(dir, '..', 'kept');
    linkSync(join(dir, 'meta.json'), kept);
    replaceIn(dir, 'meta.json', 'new', { sync: true });
    expect([readFileSync(kept, 'utf8'), readFileSync(join(dir, 'meta.json'), 'utf8')]).toEqual([
      'old',
      'new',
    ]);
    expect(readdirSync(dir)).toEqual(['meta.json']);
  });

  it('a symlink planted under the name of the temp file is refused', () => {
    const dir = captureIn(tempDir());
    symlinkSync('../../secret', join(dir, `meta.json.${process.pid}.tmp`));
    expect(codeOf(() => replaceIn(dir, 'meta.json', 'x'))).toBe('path_unsafe');
    expect(existsSync(join(dir, '..', '..', 'secret'))).toBe(false);
  });

  it('errors say what to do', () => {
    const dir = captureIn(tempDir());
    mkdirSync(join(dir, 'meta.json'));
    try {
      replaceIn(dir, 'meta.json', 'x');
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: 'path_unsafe', hint: expect.stringContaining('remove') });
    }
    expect.assertions(2);
  });
});
