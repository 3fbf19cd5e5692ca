import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeMeta } from '../../src/capture/format.ts';
import { pinCapture } from '../../src/capture/store.ts';
import { type CleanupLog, type SweepOptions, sweep } from '../../src/capture/sweep.ts';
import {
  build,
  metaOf,
  NOW,
  program,
  RUNNER,
  STARTER,
  setFile,
  type TestStore,
  tempDir,
  testStore,
} from './helper.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SURVIVOR = { pid: 400, startTime: 4_000, command: 'sleep 100', holdsOutput: false };

async function swept(store: TestStore, options: SweepOptions = {}): Promise<string[]> {
  const rows: string[] = [];
  for await (const { id, result, reason, pinned, error } of sweep(store, options)) {
    rows.push(
      [id, result, reason, pinned === true ? 'pinned' : '', error].filter(Boolean).join(' '),
    );
  }
  return rows;
}

/** Sets when a directory, and what is in it, was last changed. */
function touch(store: TestStore, id: string, at: number, child = at): void {
  const dir = join(store.sessions, id);
  for (const name of readdirSync(dir)) utimesSync(join(dir, name), child / 1000, child / 1000);
  utimesSync(dir, at / 1000, at / 1000);
}

const left = (store: TestStore): string[] => readdirSync(store.sessions).sort();

describe('the sweep', () => {
  it('removes what ended longer ago than its retention, and nothing else', async () => {
    const store = testStore();
    const ended = (ago: number) => ({ final: { at: NOW - ago } });
    build(store, [{ bytes: 'x' }], { id: 'a-day-old', ...ended(DAY) });
    build(store, [{ bytes: 'x' }], { id: 'b-nearly', ...ended(DAY - 1) });
    build(store, [], { id: 'c-short', ...ended(HOUR), meta: { retentionSeconds: 3_600 } });
    build(store, [], { id: 'd-long', ...ended(30 * DAY), meta: { retentionSeconds: 31 * 86_400 } });
    build(store, [], { id: 'e-running', final: 'missing' });
    build(store, [], { id: 'f-survivor', final: { at: NOW - 9 * DAY, survivors: [SURVIVOR] } });
    build(store, [], { id: 'g-starting', final: 'missing' });
    const begun = encodeMeta(metaOf('g-starting'), ['x']);
    setFile({ dir: join(store.sessions, 'g-starting') }, 'meta.json', Buffer.from(begun));
    for (const id of ['e-running', 'g-starting', 'f-survivor']) touch(store, id, NOW - 9 * DAY);
    store.living.push(RUNNER, STARTER, SURVIVOR);
    expect(await swept(store)).toEqual([
      'a-day-old remove expired',
      'b-nearly skip not_expired',
      'c-short remove expired',
      'd-long skip not_expired',
      'e-running skip active_session',
      'f-survivor skip active_session',
      'g-starting skip active_session',
    ]);
    expect(left(store)).toEqual(['b-nearly', 'd-long', 'e-running', 'f-survivor', 'g-starting']);
  });

  it('a run that was interrupted lives from its last sign of life', async () => {
    const store = testStore();
    for (const id of ['a', 'b', 'c']) build(store, [{ bytes: 'x' }], { id, final: 'missing' });
    touch(store, 'a', NOW - DAY);
    touch(store, 'b', NOW - 2 * DAY, NOW - DAY + 1);
    touch(store, 'c', NOW - 2 * DAY);
    // Somebody else has the pid by now.
    store.living.push({ ...RUNNER, startTime: RUNNER.startTime + 1 });
    expect(await swept(store)).toEqual([
      'a remove expired',
      'b skip not_expired',
      'c remove expired',
    ]);
  });

  it('orphans go by the latest change of the directory and what is in it', async () => {
    const store = testStore();
    const orphan = (id: string, meta: string | undefined): void => {
      build(store, [{ bytes: 'x' }], { id, meta: 'missing', final: 'missing' });
      if (meta !== undefined) writeFileSync(join(store.sessions, id, 'meta.json'), meta);
    };
    orphan('a-missing', undefined);
    orphan('b-malformed', '{"session_id":');
    orphan('c-dir-new', undefined);
    orphan('d-child-new', '\0\0');
    mkdirSync(join(store.sessions, 'e-empty'));
    touch(store, 'a-missing', NOW - DAY);
    touch(store, 'b-malformed', NOW - DAY);
    touch(store, 'c-dir-new', NOW - DAY + 1_000, NOW - 9 * DAY);
    touch(store, 'd-child-new', NOW - 9 * DAY, NOW - DAY + 1_000);
    touch(store, 'e-empty', NOW - 9 * DAY);
    expect(await swept(store)).toEqual([
      'a-missing remove unreadable_expired',
      'b-malformed remove unreadable_expired',
      'c-dir-new skip unreadable_not_expired',
      'd-child-new skip unreadable_not_expired',
      'e-empty remove unreadable_expired',
    ]);
    expect(await swept(store, { ttlSeconds: 3_600 })).toEqual([
      'c-dir-new remove unreadable_expired',
      'd-child-new remove unreadable_expired',
    ]);
    expect(left(store)).toEqual([]);
  });

  it('a retention in meta.json counts more than the one of the sweep', async () => {
    const store = testStore();
    build(store, [], { id: 'says', final: { at: NOW - 2 * HOUR } });
    const { dir } = build(store, [], { id: 'says-nothing', final: { at: NOW - 2 * HOUR } });
    const text = encodeMeta(metaOf('says-nothing'), ['x']).replace(
      '"retention_seconds":86400,',
      '',
    );
    setFile({ dir }, 'meta.json', Buffer.from(text));
    expect(await swept(store, { ttlSeconds: 3_600 })).toEqual([
      'says skip not_expired',
      'says-nothing remove expired',
    ]);
  });

  it('a pinned capture is kept, whatever its age', async () => {
    const store = testStore();
    build(store, [], { final: { at: 0 } });
    pinCapture(store, 'one', true);
    expect(await swept(store)).toEqual(['one skip not_expired pinned']);
    pinCapture(store, 'one', false);
    expect(await swept(store)).toEqual(['one remove expired']);
  });

  it('an orphan whose runner still listens is active', async () => {
    const store = testStore();
    const { dir } = build(store, [], { meta: 'missing', final: 'missing' });
    program('mkfifo', join(dir, 'control'));
    const runner = openSync(join(dir, 'control'), constants.O_RDONLY | constants.O_NONBLOCK);
    touch(store, 'one', NOW - 9 * DAY);
    expect(await swept(store)).toEqual(['one skip active_session']);
    closeSync(runner);
    expect(await swept(store)).toEqual(['one remove unreadable_expired']);
  });

  it('logs one line per capture with its result and one of seven reasons', async () => {
    const store = testStore();
    store.living.push(RUNNER);
    build(store, [], { id: 'a', final: { at: NOW } });
    build(store, [], { id: 'b', final: 'missing' });
    build(store, [], { id: 'c', final: { at: 0 } });
    for (const id of ['d', 'e', 'f']) build(store, [], { id, meta: 'missing', final: 'missing' });
    build(store, [], { id: 'g', final: { at: 0 } });
    const fail = (code: string): never => {
      throw Object.assign(new Error(code), { code });
    };
    const touched: Record<string, () => number> = {
      d: () => NOW,
      e: () => 0,
      f: () => fail('EACCES'),
    };
    const io: SweepOptions['io'] = {
      touchedAt: (dir) => touched[basename(dir)]?.() ?? NOW,
      remove: async (dir) =>
        basename(dir) === 'g' ? fail('EBUSY') : rmSync(dir, { recursive: true }),
    };
    const logged: string[] = [];
    const log = (entry: CleanupLog): void => void logged.push(Object.values(entry).join(' '));
    const rows = [
      'a skip not_expired',
      'b skip active_session',
      'c remove expired',
      'd skip unreadable_not_expired',
      'e remove unreadable_expired',
      'f error unreadable_stat_error EACCES',
      'g error remove_error EBUSY',
    ];
    const fields = ['session_id', 'cleanup_result', 'cleanup_reason'];
    const keys = (entry: CleanupLog): void =>
      expect(Object.keys(entry).slice(0, 3)).toEqual(fields);
    expect(await swept(store, { io, dryRun: true, log: keys })).toHaveLength(7);
    expect(await swept(store, { io, log })).toEqual(rows);
    expect(logged).toEqual(rows);
    expect(left(store)).toEqual(['a', 'b', 'd', 'f', 'g']);
  });

  it('one that somebody else removes meanwhile is passed over', async () => {
    const store = testStore();
    for (const id of ['a', 'b']) build(store, [], { id, meta: 'missing', final: 'missing' });
    const rows = sweep(store, { ttlSeconds: 0 });
    await rows.next();
    rmSync(join(store.sessions, 'b'), { recursive: true });
    expect(await rows.next()).toEqual({ done: true, value: undefined });
  });

  it('a dry run says the same and removes nothing', async () => {
    const store = testStore();
    build(store, [], { final: { at: 0 } });
    expect(await swept(store, { dryRun: true })).toEqual(['one remove expired']);
    expect(left(store)).toEqual(['one']);
  });

  it('removes links, not what they point to, and leaves what is no capture alone', async () => {
    const outside = tempDir();
    writeFileSync(join(outside, 'precious'), 'x');
    const store = testStore();
    const { dir } = build(store, [], { final: { at: 0 } });
    symlinkSync(outside, join(dir, 'link'));
    mkdirSync(join(dir, 'sub'));
    symlinkSync(join(outside, 'precious'), join(dir, 'sub', 'link'));
    symlinkSync(outside, join(store.sessions, 'linked'));
    writeFileSync(join(store.sessions, 'file'), '');
    // A capture whose meta.json leads elsewhere is unreadable, not whatever lies there.
    const planted = build(store, [], { id: 'planted', final: 'missing' });
    rmSync(join(planted.dir, 'meta.json'));
    symlinkSync(join(outside, 'precious'), join(planted.dir, 'meta.json'));
    utimesSync(planted.dir, 1, 1);
    store.now = () => NOW + 1e12;
    expect(await swept(store)).toEqual(['one remove expired', 'planted remove unreadable_expired']);
    expect(readdirSync(outside)).toEqual(['precious']);
    expect(left(store)).toEqual(['file', 'linked']);
  });

  it('a sessions directory that leads elsewhere is not swept', async () => {
    const outside = tempDir();
    mkdirSync(join(outside, 'one'));
    const store = testStore(tempDir());
    symlinkSync(outside, store.sessions);
    await expect(swept(store, { ttlSeconds: 0 })).rejects.toMatchObject({ code: 'path_unsafe' });
    expect(existsSync(join(outside, 'one'))).toBe(true);
    expect(await swept(testStore())).toEqual([]);
  });

  it('looks at no more than it is told to, oldest first, and in the end at all', async () => {
    const store = testStore();
    const ids = Array.from({ length: 50 }, (_, n) => `id-${String(n).padStart(2, '0')}`);
    for (const id of ids) build(store, [], { id });
    const seen = new Set<string>();
    for (let second = 0; second < 50; second += 1) {
      store.now = () => NOW + second * 1_000;
      const rows = await swept(store, { limit: 10 });
      const looked = rows.map((row) => row.split(' ')[0] ?? '');
      expect(looked.slice(0, 5)).toEqual(ids.slice(0, 5));
      expect([looked.length, [...looked].sort()]).toEqual([10, looked]);
      for (const id of looked) seen.add(id);
    }
    expect([...seen].sort()).toEqual(ids);
    expect((await swept(store, { limit: 100 })).length).toBe(50);
  });
});
