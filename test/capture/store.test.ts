import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { encodeFinal, encodeMeta } from '../../src/capture/format.ts';
import { replaceIn } from '../../src/capture/paths.ts';
import {
  captureIds,
  createCapture,
  findCaptures,
  listCaptures,
  openCapture,
  pinCapture,
  readEvents,
  rewriteMeta,
} from '../../src/capture/store.ts';
import {
  build,
  CHILD,
  compile,
  fileOf,
  finalOf,
  metaOf,
  NOW,
  RUNNER,
  setFile,
  tempDir,
  testStore,
} from './helper.ts';

function codeOf(action: () => unknown): string {
  try {
    action();
    return 'done';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('creating a capture', () => {
  it('makes private directories and meta.json, and nothing else', () => {
    const store = testStore();
    const old = process.umask(0);
    const dir = createCapture(store, metaOf('one'), ['echo', 'hi']);
    process.umask(old);
    expect(dir).toBe(join(store.sessions, 'one'));
    expect(readdirSync(dir)).toEqual(['meta.json']);
    expect([store.root, store.sessions, dir].map(modeOf)).toEqual([0o700, 0o700, 0o700]);
    expect(modeOf(join(dir, 'meta.json'))).toBe(0o600);
    expect(readFileSync(join(dir, 'meta.json'), 'utf8')).toBe(
      encodeMeta(metaOf('one'), ['echo', 'hi']),
    );
  });

  it('closes directories that were open to others before', () => {
    const store = testStore();
    const leaf = join(store.sessions, 'one');
    mkdirSync(leaf, { recursive: true });
    for (const path of [store.root, store.sessions, leaf]) chmodSync(path, 0o755);
    createCapture(store, metaOf('one'), ['x']);
    expect([store.root, store.sessions, leaf].map(modeOf)).toEqual([0o700, 0o700, 0o700]);
  });

  it.each(['meta.json', 'final.json'])(
    'an id that has a %s is taken, and stays as it is',
    (name) => {
      const store = testStore();
      const dir = join(store.sessions, 'one');
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      for (const content of ['{}', '', 'rubbish']) {
        writeFileSync(join(dir, name), content);
        writeFileSync(join(dir, 'output.bin'), '');
        expect(codeOf(() => createCapture(store, metaOf('one'), ['x']))).toBe('session_exists');
        expect(readFileSync(join(dir, name), 'utf8')).toBe(content);
        expect(readdirSync(dir).sort()).toEqual([name, 'output.bin'].sort());
      }
    },
  );

  it('a directory without a capture is taken over, one with output is not', () => {
    const store = testStore();
    const dir = join(store.sessions, 'one');
    mkdirSync(dir, { recursive: true });
    for (const name of ['output.bin', 'append.lock', 'final.json.tmp', 'pinned']) {
      writeFileSync(join(dir, name), '');
    }
    createCapture(store, metaOf('one'), ['x']);
    expect(readdirSync(dir).sort()).toEqual(['final.json.tmp', 'meta.json']);
    rmSync(join(dir, 'meta.json'));
    writeFileSync(join(dir, 'output.bin'), 'somebody’s');
    expect(codeOf(() => createCapture(store, metaOf('one'), ['x']))).toBe('session_exists');
    expect(readFileSync(join(dir, 'output.bin'), 'utf8')).toBe('somebody’s');
  });

  it('no bad id writes anything', () => {
    const store = testStore();
    for (const id of ['.', '..', '', 'a/b', '../../x', '-x', 'x'.repeat(129), 'a\0b']) {
      for (const act of [
        () => createCapture(store, metaOf(id), ['x']),
        () => openCapture(store, id),
        () => pinCapture(store, id, true),
      ]) {
        expect(codeOf(act), JSON.stringify(id)).toBe('session_id_invalid');
      }
    }
    expect(codeOf(() => readdirSync(store.root))).toBe('ENOENT');
  });

  it('a sessions directory that became a symlink between two captures is refused', () => {
    const store = testStore();
    const outside = tempDir();
    createCapture(store, metaOf('one'), ['x']);
    rmSync(store.sessions, { recursive: true });
    symlinkSync(outside, store.sessions);
    expect(codeOf(() => createCapture(store, metaOf('two'), ['x']))).toBe('path_unsafe');
    expect(readdirSync(outside)).toEqual([]);
  });

  it('a planted symlink anywhere on the way is refused and nothing is written behind it', () => {
    const outside = tempDir();
    const linked = testStore();
    mkdirSync(linked.root);
    symlinkSync(outside, linked.sessions);
    expect(codeOf(() => createCapture(linked, metaOf('one'), ['x']))).toBe('path_unsafe');
    const store = testStore();
    mkdirSync(store.sessions, { recursive: true });
    symlinkSync(outside, join(store.sessions, 'one'));
    symlinkSync(join(outside, 'none'), join(store.sessions, 'two'));
    expect(codeOf(() => createCapture(store, metaOf('one'), ['x']))).toBe('path_unsafe');
    expect(codeOf(() => createCapture(store, metaOf('two'), ['x']))).toBe('path_unsafe');
    mkdirSync(join(store.sessions, 'three'));
    symlinkSync(join(outside, 'none'), join(store.sessions, 'three', 'meta.json'));
    expect(codeOf(() => createCapture(store, metaOf('three'), ['x']))).toBe('session_exists');
    const dir = createCapture(store, metaOf('four'), ['x']);
    symlinkSync(join(outside, 'none'), join(dir, 'final.json'));
    expect(codeOf(() => replaceIn(dir, 'final.json', 'x'))).toBe('path_unsafe');
    expect(readdirSync(outside)).toEqual([]);
  });

  it('a state root that cannot be written says so and leaves nothing', () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    const store = testStore(join(file, 'state'));
    expect(codeOf(() => createCapture(store, metaOf('one'), ['x']))).toBe('state_unwritable');
  });

  it('of many processes that want the same ids, one gets each', async () => {
    const store = testStore();
    const program = compile(`
      import { createCapture } from '../../src/capture/store.ts';
      import { metaOf } from './meta.ts';
      const store = { root: process.argv[2], alive: () => true, now: Date.now };
      process.stdin.once('data', () => {
        const got = [];
        for (let n = 0; n < 100; n += 1) {
          try {
            createCapture(store, metaOf('id-' + n), [String(process.pid)]);
            got.push(n);
          } catch (error) {
            if (error.code !== 'session_exists') throw error;
          }
        }
        process.stdout.write(got.join('\\n') + '\\n', () => process.exit(0));
      });
      process.stdout.write('ready\\n');
    `);
    const children = [1, 2, 3, 4].map(() => spawn(process.execPath, [program, store.root]));
    const outputs = children.map((child) => text(child.stdout));
    await Promise.all(children.map((child) => once(child.stdout, 'readable')));
    for (const child of children) child.stdin.end('go');
    const lines = (await Promise.all(outputs)).flatMap((output) => output.trim().split('\n'));
    const got = lines.filter((line) => /^\d+$/.test(line)).map(Number);
    expect(got.sort((a, b) => a - b)).toEqual([...Array(100).keys()]);
  });
});

describe('after the launch', () => {
  it('meta.json gets the pids and all else stays as it was', () => {
    const store = testStore();
    const dir = createCapture(store, metaOf('one'), ['echo', 'hi']);
    const before = readFileSync(join(dir, 'meta.json'), 'utf8');
    const launched = metaOf('one', { runner: RUNNER, child: CHILD, startedAt: NOW + 5 });
    rewriteMeta(dir, launched, ['echo', 'hi']);
    const after = readFileSync(join(dir, 'meta.json'), 'utf8');
    expect(after.startsWith(before.slice(0, -2))).toBe(true);
    store.living.push(RUNNER);
    const { meta, state } = openCapture(store, 'one');
    expect({ meta, state }).toEqual({
      meta: { ...launched, argv: ['echo', 'hi'] },
      state: 'running',
    });
  });

  it('final.json is written whole', () => {
    const store = testStore();
    const dir = createCapture(store, metaOf('one'), ['x']);
    const final = encodeFinal(finalOf({ outputBytes: 3 }), 'one');
    replaceIn(dir, 'final.json', final, { sync: true });
    expect(readdirSync(dir).sort()).toEqual(['final.json', 'meta.json']);
    expect(readFileSync(join(dir, 'final.json'), 'utf8')).toBe(final);
    expect(openCapture(store, 'one').final).toEqual(finalOf({ outputBytes: 3 }));
  });
});

describe('opening a capture', () => {
  it('an unknown id is not found, in these words', () => {
    const store = testStore();
    for (const make of [
      () => {},
      () => mkdirSync(join(store.sessions, 'one'), { recursive: true }),
    ]) {
      make();
      expect(() => openCapture(store, 'one')).toThrow(
        expect.objectContaining({ code: 'session_not_found', message: 'session not found' }),
      );
    }
  });

  it('a file that became a symlink is refused for reading', () => {
    const secret = join(tempDir(), 'secret');
    writeFileSync(secret, encodeFinal(finalOf(), 'one'));
    for (const target of [secret, '/nowhere/at/all']) {
      for (const name of ['meta.json', 'final.json']) {
        const store = testStore();
        const { dir } = build(store, []);
        rmSync(join(dir, name));
        symlinkSync(target, join(dir, name));
        expect(
          codeOf(() => openCapture(store, 'one')),
          name,
        ).toBe('path_unsafe');
        expect(listCaptures(store).map(({ state, reason }) => [state, reason])).toEqual([
          ['failed', 'path_unsafe'],
        ]);
      }
    }
  });

  it('what is damaged is left out', () => {
    const store = testStore();
    const { dir } = build(store, [{ bytes: 'hi' }]);
    setFile({ dir }, 'meta.json', Buffer.from('{"schema'));
    const { meta, final, state } = openCapture(store, 'one');
    expect([meta, final?.outcome, state]).toEqual([
      undefined,
      { kind: 'exited', code: 0 },
      'exited',
    ]);
    rmSync(join(dir, 'final.json'));
    expect(openCapture(store, 'one')).toMatchObject({ state: 'failed', reason: 'unreadable' });
    rmSync(join(dir, 'meta.json'));
    expect(openCapture(store, 'one')).toMatchObject({ state: 'failed', outputOpen: false });
  });
});

describe('listing captures', () => {
  it('newest first, filtered and limited, damaged ones with what is left of them', () => {
    const store = testStore();
    const at = (second: number) => ({ createdAt: NOW + second * 1000 });
    build(store, [{ bytes: 'abc' }], { id: 'b-first', meta: at(1) });
    build(store, [], { id: '20261115-213840-00000001', meta: { createdAt: NOW + 5_100 } });
    build(store, [], { id: '20261115-213840-00000000', meta: { createdAt: NOW + 5_700 } });
    build(store, [], { id: 'a-third', meta: at(3), final: 'missing' });
    const { dir } = build(store, [{ bytes: 'abcd' }], { id: 'broken' });
    setFile({ dir }, 'meta.json', Buffer.from('\0\0\0'));
    utimesSync(dir, 1, 1);
    mkdirSync(join(store.sessions, 'empty'));
    writeFileSync(join(store.sessions, 'file'), '');
    symlinkSync(dir, join(store.sessions, 'link'));
    const rows = (options?: Parameters<typeof listCaptures>[1]) =>
      listCaptures(store, options).map(
        ({ id, state, outputBytes }) => `${id} ${state} ${outputBytes}`,
      );
    const newest = [
      '20261115-213840-00000000 exited 0',
      '20261115-213840-00000001 exited 0',
      'a-third failed 0',
      'b-first exited 3',
      'broken exited 4',
    ];
    expect(rows()).toEqual(newest);
    expect(rows({ limit: 1 })).toEqual(newest.slice(0, 1));
    expect(rows({ limit: 3 })).toEqual(newest.slice(0, 3));
    expect(rows({ limit: 0 })).toEqual([]);
    expect(rows({ state: 'failed' })).toEqual(['a-third failed 0']);
    expect(rows({ state: 'exited', limit: 3 })).toEqual([newest[0], newest[1], newest[3]]);
    expect(rows({ state: 'running' })).toEqual([]);
  });

  it('there is nothing to list where nothing was ever run', () => {
    expect(listCaptures(testStore())).toEqual([]);
    expect(findCaptures(testStore(), 'x')).toEqual([]);
  });

  it('any part finds a capture, and the whole id only that one', () => {
    const store = testStore();
    for (const id of ['abc', 'abcd', 'xbcy']) build(store, [], { id });
    expect(
      ['bc', 'cy', 'abc', 'd', '', 'zz', '../abc'].map((part) => findCaptures(store, part)),
    ).toEqual([
      ['abc', 'abcd', 'xbcy'],
      ['xbcy'],
      ['abc'],
      ['abcd'],
      ['abc', 'abcd', 'xbcy'],
      [],
      [],
    ]);
    expect(captureIds(store)).toEqual(['abc', 'abcd', 'xbcy']);
  });
});

describe('pins and events', () => {
  it('a pin is a file that comes and goes', () => {
    const store = testStore();
    const { dir } = build(store, []);
    pinCapture(store, 'one', true);
    pinCapture(store, 'one', true);
    expect([openCapture(store, 'one').pinned, modeOf(join(dir, 'pinned'))]).toEqual([true, 0o600]);
    pinCapture(store, 'one', false);
    pinCapture(store, 'one', false);
    expect(openCapture(store, 'one').pinned).toBe(false);
    expect(codeOf(() => pinCapture(store, 'two', true))).toBe('session_not_found');
    symlinkSync('/nowhere/at/all', join(dir, 'pinned'));
    expect(codeOf(() => pinCapture(store, 'one', true))).toBe('path_unsafe');
  });

  it('events are read in order, without damage and repetition', () => {
    const store = testStore();
    const events = [
      { type: 'resize', at: NOW, cols: 80, rows: 24 },
      { type: 'resize', at: NOW + 1, cols: 80, rows: 24 },
      { type: 'gap', at: NOW + 2, offset: 0, lostBytes: 9, reason: 'cap' },
    ] as const;
    const capture = build(store, [], { events });
    const lines = fileOf(capture, 'events.jsonl').toString();
    const [first = '', ...rest] = lines.split(/(?<=\n)/);
    setFile(
      capture,
      'events.jsonl',
      Buffer.from(`${first}${first}\0\0{"type":"x${rest.join('')}{"t`),
    );
    expect(readEvents(capture)).toEqual(events);
    rmSync(join(capture.dir, 'events.jsonl'));
    expect(readEvents(capture)).toEqual([]);
  });
});
