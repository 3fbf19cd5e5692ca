import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { vcsState } from '../../src/git/vcs.ts';
import { readIndex, stagedTree } from '../../src/text/git-index.ts';

type Repository = {
  readonly dir: string;
  git(...args: string[]): string;
  put(name: string, text: string): void;
  /** What git says of itself. */
  truth(): { head: string; branch: string | null; dirty: boolean };
};

function repository(...init: string[]): Repository {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-vcs-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const made = at(dir);
  made.git('init', '-q', '-b', 'main', ...init);
  return made;
}

function at(dir: string): Repository {
  const env = {
    PATH: process.env.PATH,
    HOME: dir,
    GIT_CONFIG_NOSYSTEM: '1',
    ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b.c', GIT_COMMITTER_NAME: 'a' },
    ...{ GIT_COMMITTER_EMAIL: 'a@b.c', GIT_ALLOW_PROTOCOL: 'file' },
  };
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: 'pipe' }).trimEnd();
  return {
    dir,
    git,
    put(name, text) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), text);
    },
    truth() {
      const branch = git('branch', '--show-current');
      // Asked without locks, so that git writes no newer index.
      const status = git('--no-optional-locks', 'status', '--porcelain', '--untracked-files=no');
      return {
        head: git('rev-parse', 'HEAD'),
        branch: branch === '' ? null : branch,
        dirty: status !== '',
      };
    },
  };
}

function committed(...init: string[]): Repository {
  const made = repository(...init);
  made.put('a.txt', 'one\n');
  made.put('a/b.txt', 'two\n');
  made.put('a-b/c', 'three\n');
  made.put('ä/grüße.txt', 'four\n');
  made.put('run.sh', '#!/bin/sh\n');
  chmodSync(join(made.dir, 'run.sh'), 0o755);
  symlinkSync('a.txt', join(made.dir, 'link'));
  made.git('add', '.');
  made.git('commit', '-qm', 'first');
  return made;
}

/** The time of a file is the reason to compare it, or not to. */
function aged(path: string, seconds: number): void {
  utimesSync(path, seconds, seconds);
}

const CASES: Readonly<Record<string, (repo: Repository) => void>> = {
  'nothing changed': () => {},
  'a file of another size': ({ put }) => put('a.txt', 'one more\n'),
  'a file of the same size': ({ put }) => put('a.txt', 'two\n'),
  'the same content again': ({ dir, put }) => {
    put('a.txt', 'one\n');
    aged(join(dir, 'a.txt'), 1_000_000_000);
  },
  'a file is gone': ({ dir }) => unlinkSync(join(dir, 'a/b.txt')),
  'a directory is gone': ({ dir }) => rmSync(join(dir, 'a'), { recursive: true }),
  'a file became a directory': ({ dir }) => {
    unlinkSync(join(dir, 'a.txt'));
    mkdirSync(join(dir, 'a.txt'));
  },
  'a link leads elsewhere': ({ dir }) => {
    unlinkSync(join(dir, 'link'));
    symlinkSync('b.txt', join(dir, 'link'));
  },
  'a file became a link': ({ dir }) => {
    renameSync(join(dir, 'a.txt'), join(dir, 'b.txt'));
    symlinkSync('b.txt', join(dir, 'a.txt'));
  },
  'a file may be run': ({ dir }) => chmodSync(join(dir, 'a.txt'), 0o755),
  'a file may be read by others only': ({ dir }) => chmodSync(join(dir, 'a.txt'), 0o640),
  'a new file is not tracked': ({ put }) => put('new.txt', 'x'),
  'a change is staged': ({ put, git }) => {
    put('a.txt', 'staged\n');
    git('add', '.');
  },
  'a new file is staged': ({ put, git }) => {
    put('a/deep/er/new.txt', 'staged\n');
    git('add', '.');
  },
  'a file is staged and back again': ({ put, git }) => {
    put('a.txt', 'staged\n');
    git('add', '.');
    git('reset', '-q', '--hard');
  },
  'a removal is staged': ({ git }) => void git('rm', '-q', '--cached', 'a.txt'),
  'a file is only intended': ({ put, git }) => {
    put('new.txt', 'x');
    git('add', '-N', 'new.txt');
  },
  'a change is assumed to be none': ({ put, git }) => {
    git('update-index', '--assume-unchanged', 'a.txt');
    put('a.txt', 'unseen\n');
  },
  'a file is skipped': ({ dir, git }) => {
    git('update-index', '--skip-worktree', 'a.txt');
    unlinkSync(join(dir, 'a.txt'));
  },
  'another commit': ({ put, git }) => {
    put('a.txt', 'second\n');
    git('commit', '-qam', 'second');
  },
  'another branch with a slash': ({ git }) => void git('checkout', '-q', '-b', 'feature/x'),
  'a commit is checked out': ({ git }) => void git('checkout', '-q', '--detach'),
  'refs and objects are packed': ({ git }) => void git('gc', '-q', '--aggressive'),
  'packed, then a change': ({ git, put }) => {
    git('gc', '-q');
    put('a.txt', 'changed\n');
  },
  'a conflict': ({ git, put }) => {
    git('checkout', '-q', '-b', 'side');
    put('a.txt', 'side\n');
    git('commit', '-qam', 'side');
    git('checkout', '-q', 'main');
    put('a.txt', 'main\n');
    git('commit', '-qam', 'main');
    expect(() => git('merge', '-q', 'side')).toThrow();
  },
};

describe('the state of a repository, read as files', () => {
  it.each(Object.entries(CASES))('is what git says: %s', (_, change) => {
    for (const init of [[], ['--object-format=sha256']]) {
      const repo = committed(...init);
      change(repo);
      expect(vcsState(repo.dir)).toEqual(repo.truth());
      expect(vcsState(join(repo.dir, 'ä'))).toEqual(repo.truth());
    }
  });

  it('knows a change of the moment in which the index was written', () => {
    const repo = committed();
    const path = join(repo.dir, 'a.txt');
    const index = join(repo.dir, '.git', 'index');
    // As a file system with whole seconds leaves it: same size, same time, other content.
    const second = Math.floor(statSync(path).mtimeMs / 1000);
    aged(path, second);
    repo.git('update-index', '--refresh');
    writeFileSync(path, 'two\n');
    aged(path, second);
    aged(index, second);
    expect(repo.truth().dirty).toBe(true);
    expect(vcsState(repo.dir)?.dirty).toBe(true);
  });

  it('is that of a work tree of its own, and of a submodule', () => {
    const repo = committed();
    repo.git('worktree', 'add', '-q', '-b', 'beside', join(repo.dir, 'beside'));
    const beside = at(join(repo.dir, 'beside'));
    beside.put('a.txt', 'other\n');
    expect(vcsState(beside.dir)).toEqual({ ...beside.truth(), branch: 'beside', dirty: true });
    const inner = committed();
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'sub');
    repo.git('commit', '-qm', 'with a submodule');
    expect(vcsState(join(repo.dir, 'sub'))).toEqual(at(join(repo.dir, 'sub')).truth());
    expect(vcsState(repo.dir)).toEqual(repo.truth());
  });

  it('has no commit before the first one, and is nothing outside of a repository', () => {
    const repo = repository();
    expect(vcsState(repo.dir)).toEqual({ head: null, branch: 'main', dirty: null });
    const none = mkdtempSync(join(tmpdir(), 'cuff-no-vcs-'));
    onTestFinished(() => rmSync(none, { recursive: true }));
    expect(vcsState(none)).toBe(undefined);
  });

  it('leaves open what an index of another form says', () => {
    for (const form of [['--index-version', '4'], ['--split-index']]) {
      const repo = committed();
      repo.git('update-index', ...form);
      expect(vcsState(repo.dir)).toEqual({ ...repo.truth(), dirty: null });
    }
    const sparse = committed();
    sparse.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'ä');
    expect(vcsState(sparse.dir)).toEqual({ ...sparse.truth(), dirty: null });
  });

  it('leaves open whether a filter or a change made other bytes', () => {
    const repo = committed();
    repo.put('.gitattributes', '*.crlf text eol=crlf\n');
    repo.put('x.crlf', 'a\r\nb\r\n');
    repo.git('add', '.');
    repo.git('commit', '-qm', 'with a filter');
    aged(join(repo.dir, 'x.crlf'), 1_000_000_000);
    expect(repo.truth().dirty).toBe(false);
    expect(vcsState(repo.dir)?.dirty).toBe(null);
  });

  it('runs nothing that the repository names, and waits for nothing', () => {
    const repo = committed();
    const proof = join(repo.dir, 'ran');
    for (const key of ['core.fsmonitor', 'core.pager', 'filter.x.clean', 'core.sshCommand']) {
      repo.git('config', key, `touch ${proof}`);
    }
    repo.put('a.txt', 'changed\n');
    expect(vcsState(repo.dir)?.dirty).toBe(true);
    expect(existsSync(proof)).toBe(false);
    // Opened without care, a FIFO holds its reader for ever.
    for (const name of ['HEAD', 'index', 'packed-refs', 'refs/heads/main']) {
      const other = committed();
      const path = join(other.dir, '.git', name);
      rmSync(path, { force: true });
      execFileSync('mkfifo', [path]);
      vcsState(other.dir);
    }
    const linked = committed();
    unlinkSync(join(linked.dir, 'a.txt'));
    execFileSync('mkfifo', [join(linked.dir, 'a.txt')]);
    expect(vcsState(linked.dir)?.dirty).toBe(true);
  });

  it('takes no path out of the repository for a ref or a tracked file', () => {
    const repo = committed();
    const id = repo.truth().head;
    writeFileSync(join(repo.dir, 'outside'), `${id}\n`);
    writeFileSync(join(repo.dir, '.git', 'HEAD'), 'ref: refs/heads/../../../outside\n');
    expect(vcsState(repo.dir)).toEqual({ head: null, branch: null, dirty: null });
    const index = readFileSync(join(repo.dir, '.git', 'index'));
    const renamed = Buffer.from(index.toString('latin1').replace('a/b.txt', 'a/../xy'), 'latin1');
    expect(readIndex(index, 20, 100)?.files.length).toBe(6);
    expect(readIndex(renamed, 20, 100)).toBe(undefined);
    expect(readIndex(index, 20, 5)).toBe(undefined);
  });

  it('never throws, however its files are damaged', () => {
    const repo = committed();
    repo.git('gc', '-q');
    const truth = vcsState(repo.dir);
    const packs = join(repo.dir, '.git', 'objects', 'pack');
    const names = execFileSync('ls', [packs], { encoding: 'utf8' }).trim().split('\n');
    const files = [
      ...['HEAD', 'index', 'packed-refs'].map((name) => join(repo.dir, '.git', name)),
      ...names.filter((name) => /\.(idx|pack)$/.test(name)).map((name) => join(packs, name)),
    ];
    const damage = fc.record({
      file: fc.constantFrom(...files),
      at: fc.nat(2_000),
      put: fc.uint8Array({ maxLength: 6 }),
      cut: fc.nat(40),
    });
    for (const file of files) chmodSync(file, 0o644);
    fc.assert(
      fc.property(damage, ({ file, at: from, put, cut }) => {
        const whole = readFileSync(file);
        const place = from % (whole.length + 1);
        const rest = whole.subarray(place + cut);
        writeFileSync(file, Buffer.concat([whole.subarray(0, place), put, rest]));
        try {
          const state = vcsState(repo.dir);
          if (state?.head) expect(state.head).toMatch(/^[0-9a-f]{40,64}$/);
        } finally {
          writeFileSync(file, whole);
        }
      }),
      { numRuns: 500 },
    );
    expect(vcsState(repo.dir)).toEqual(truth);
  });

  it('knows the tree of any set of names', () => {
    const part = fc.stringMatching(/^[a-c.-]{1,3}$/).filter((name) => !/^\.{1,2}$/.test(name));
    const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.uniqueArray(path, { minLength: 1, maxLength: 12 }), (paths) => {
        const repo = repository();
        // A name cannot be a file and a directory.
        const plain = paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`)));
        for (const name of plain) repo.put(name, name);
        repo.git('add', '-f', '.');
        const index = readIndex(readFileSync(join(repo.dir, '.git', 'index')), 20, 100);
        expect(stagedTree(index?.files ?? [], 20)).toBe(repo.git('write-tree'));
      }),
      { numRuns: 25 },
    );
  });
});
