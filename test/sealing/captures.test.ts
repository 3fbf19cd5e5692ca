// Captures that are over get a salt and a leaf, once; what a reader of them sees stays as it was.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { splitFinal } from '../../src/capture/final-salt.ts';
import { encodeFinal } from '../../src/capture/format.ts';
import { createCapture, readState, type Store } from '../../src/capture/store.ts';
import { CAPTURE_PARTS, commitmentTo, partSalt, sha256 } from '../../src/ledger/commitments.ts';
import { sealCaptures } from '../../src/sealing/captures.ts';
import { newMeta } from '../../src/shell/new-run.ts';
import { openStore } from '../../src/shell/store.ts';
import type { CaptureFinal } from '../../src/types.ts';
import { ME, SealWorld } from './helper.ts';

const FINAL: CaptureFinal = {
  at: Date.parse('2026-01-18T14:30:53.000Z'),
  endedBy: 'itself',
  lostBytes: 0,
  outcome: { kind: 'exited', code: 0 },
  outputBytes: 5,
  outputClosed: true,
  state: 'exited',
  survivors: [],
};

function capture(world: SealWorld, change: Partial<CaptureFinal> | undefined = {}) {
  const store: Store = { ...openStore(world.root), alive: world.alive };
  const command = { kind: 'argv', argv: ['true'] } as const;
  const meta = newMeta({ command, cwd: '/', transport: 'pipe', outputBytesMax: 1000 });
  const dir = createCapture(store, meta, ['true']);
  fs.writeFileSync(join(dir, 'output.bin'), 'hello', { mode: 0o600 });
  const final = encodeFinal({ ...FINAL, ...change }, meta.id);
  fs.writeFileSync(join(dir, 'final.json'), final, { mode: 0o600 });
  return { store, dir, id: meta.id, final, until: FINAL.at + meta.retentionSeconds * 1000 };
}

describe('a capture that is over', () => {
  it('has a leaf that commits to each of its files, and a salt in final.json', async () => {
    const world = new SealWorld();
    const { store, dir, id, final, until } = capture(world);
    const state = readState(dir);
    const ledger = world.ledger();
    expect(await sealCaptures({ ledger, store, owner: ME })).toBe(1);
    const { text, salt = new Uint8Array() } = splitFinal(
      fs.readFileSync(join(dir, 'final.json'), 'utf8'),
    );
    expect(text).toBe(final);
    const names = ['meta.json', 'output.bin', 'index.jsonl', 'events.jsonl', 'trace.bin'];
    const parts = CAPTURE_PARTS.map((part, place) => {
      const path = join(dir, names[place] ?? '');
      const bytes =
        part === 'final' ? Buffer.from(final) : fs.existsSync(path) && fs.readFileSync(path);
      return [part, bytes === false ? null : commitmentTo(sha256(bytes), partSalt(salt, place))];
    });
    expect(world.leaves('capture')).toEqual([
      {
        kind: 'capture',
        run: id,
        at: FINAL.at,
        until,
        bytes: 5,
        output_end: 'closed',
        ...Object.fromEntries(parts),
      },
    ]);
    expect(world.leaves('capture')[0]?.output).not.toBeNull();
    expect(readState(dir)).toEqual(state);
    expect(fs.statSync(join(dir, 'final.json')).mode & 0o777).toBe(0o600);
    expect(await sealCaptures({ ledger, store, owner: ME })).toBe(0);
    expect(await sealCaptures({ ledger: world.ledger(), store, owner: ME })).toBe(0);
    expect(world.leaves('capture')).toHaveLength(1);
  });

  it('is left alone while its processes may print, and while it has no end', async () => {
    const world = new SealWorld();
    const { store, dir } = capture(world, { outputClosed: false });
    const running = capture(world);
    fs.rmSync(join(running.dir, 'final.json'));
    const before = fs.readFileSync(join(dir, 'final.json'), 'utf8');
    expect(await sealCaptures({ ledger: world.ledger(), store, owner: ME })).toBe(0);
    expect(fs.readFileSync(join(dir, 'final.json'), 'utf8')).toBe(before);
    expect(world.leaves('capture')).toEqual([]);
  });

  it('is left as it is when a command comes meanwhile, and taken up again', async () => {
    const world = new SealWorld();
    const { store, dir, final } = capture(world);
    let asked = 0;
    const goOn = (): boolean => {
      asked += 1;
      return asked < 2;
    };
    const done = new Set<string>();
    const ledger = world.ledger();
    expect(await sealCaptures({ ledger, store, owner: ME, goOn, done })).toBe(0);
    expect(fs.readFileSync(join(dir, 'final.json'), 'utf8')).toBe(final);
    expect(await sealCaptures({ ledger, store, owner: ME, done })).toBe(1);
  });

  it('costs the others nothing when it cannot be read', async () => {
    const world = new SealWorld();
    const { dir } = capture(world);
    fs.rmSync(join(dir, 'output.bin'));
    fs.symlinkSync('/etc/passwd', join(dir, 'output.bin'));
    const { store, id } = capture(world);
    expect(await sealCaptures({ ledger: world.ledger(), store, owner: ME })).toBe(1);
    expect(world.leaves('capture').map(({ run }) => run)).toEqual([id]);
  });
});
