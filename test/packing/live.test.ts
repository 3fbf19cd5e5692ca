// Whether the capture of a run that begins is in memory: what settings and the machine say.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newIdentity, recipientText } from '../../src/age/x25519.ts';
import { livePlace, livePlaces } from '../../src/packing/live.ts';
import type { Env } from '../../src/types.ts';
import { lacking } from '../requirements.ts';

const TMPFS = 0x01021994;
const memory = '/dev/shm';
const inMemory = fs.existsSync(memory) && fs.statfsSync(memory).type === TMPFS;
const recipient = recipientText(newIdentity().recipient);

function folder(at: string): string {
  const dir = fs.mkdtempSync(join(at, 'cuff-live-'));
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** With these settings of the user, and this directory for what is kept until a logout. */
function world(encryption: string, runtime: string | undefined) {
  const dir = folder(tmpdir());
  const config = join(dir, 'config');
  fs.mkdirSync(join(config, 'cuff'), { recursive: true });
  fs.writeFileSync(join(config, 'cuff', 'settings.yml'), `encryption: {${encryption}}\n`);
  const env: Env = { XDG_CONFIG_HOME: config, HOME: dir, XDG_RUNTIME_DIR: runtime };
  return { dir, env, place: () => livePlace(join(dir, 'state'), dir, env) };
}

const BOTH = `recipients: [${recipient}], live: memory`;
const WHY = 'its capture is on the disk while it runs: ';

describe('the capture of a run that begins', () => {
  it('is on the disk unless the settings of the user say memory, and for whom', () => {
    const plain = { kind: 'plain' };
    expect(world(`recipients: [${recipient}]`, undefined).place()).toEqual(plain);
    expect(world(`recipients: [${recipient}], live: plain`, undefined).place()).toEqual(plain);
    expect(world('live: memory', undefined).place()).toEqual({
      kind: 'plain',
      why: `${WHY}there are no encryption.recipients`,
    });
    const { place } = world(`recipients: [${recipient}], live: ram`, undefined);
    expect(place()).toEqual({
      kind: 'plain',
      why: expect.stringContaining('encryption.live is neither plain nor memory'),
    });
  });

  it('is on the disk, and that is said, where there is no directory in memory', () => {
    const open = folder(tmpdir());
    fs.chmodSync(open, 0o755);
    for (const runtime of [undefined, 'relative', '/nowhere', open]) {
      expect(world(BOTH, runtime).place()).toEqual({
        kind: 'plain',
        why: `${WHY}XDG_RUNTIME_DIR names no directory of yours alone`,
      });
    }
  });

  it('is not in memory because a project says so', () => {
    const { dir, env } = world('', undefined);
    fs.rmSync(join(dir, 'config'), { recursive: true });
    fs.mkdirSync(join(dir, '.cuff'));
    fs.writeFileSync(join(dir, '.cuff', 'settings.yml'), `encryption: {${BOTH}}\n`);
    expect(livePlace(join(dir, 'state'), dir, env)).toEqual({ kind: 'plain' });
  });

  it.skipIf(lacking(!inMemory, '/dev/shm is no tmpfs'))('has a place of its own there', () => {
    const runtime = folder(memory);
    const { place } = world(BOTH, runtime);
    const [one, two] = [place(), place()];
    if (one.kind !== 'memory' || two.kind !== 'memory') throw new Error('not in memory');
    expect(one.root.startsWith(join(runtime, 'cuff'))).toBe(true);
    expect(dirname(one.root)).toBe(dirname(two.root));
    expect(one.root).not.toBe(two.root);
    const { bavail, bsize } = fs.statfsSync(runtime);
    expect(one.outputBytesMax).toBeLessThanOrEqual(64 * 1024 * 1024);
    expect(one.outputBytesMax).toBeLessThanOrEqual((bavail * bsize) / 2);
  });

  it('logs what keeps it from the memory once', () => {
    const { dir, env } = world(BOTH, undefined);
    const lines: unknown[] = [];
    const log = (...words: readonly unknown[]): void => void lines.push(words);
    const place = livePlaces({ stateRoot: dir, cwd: dir, env, log });
    expect([place().kind, place().kind]).toEqual(['plain', 'plain']);
    expect(lines).toEqual([
      ['warn', 'Captures are not in memory', { error: expect.stringContaining(WHY) }],
    ]);
  });
});
