// Anchors in the system's log: what `logger` is told, and what `journalctl` knows. Both stand in
// here: a test must not write into the log of the machine that it runs on.
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { wantedAnchors } from '../../../src/sealing/anchors/wanted.ts';
import { AnchorWorld, troubles, verdicts } from './world.ts';

const LOGGER = `#!/bin/sh
printf '%s\\n' "$*" >> "$LOG"
`;

const JOURNALCTL = `#!/bin/sh
case "$*" in *" _UID=$(id -u) SYSLOG_IDENTIFIER=cuff-seal") ;; *) exit 3 ;; esac
while read -r t tag dashes message; do
  printf '{"__REALTIME_TIMESTAMP":"1768746652123456","MESSAGE":"%s"}\\n' "$message"
done < "$LOG"
`;

async function machine() {
  const world = new AnchorWorld();
  const bin = join(world.seal.dir, 'bin');
  const log = join(world.seal.dir, 'log');
  fs.mkdirSync(bin);
  fs.writeFileSync(join(bin, 'logger'), LOGGER, { mode: 0o755 });
  const socket = join(world.seal.dir, 'syslog');
  const server = createServer().listen(socket);
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  await new Promise((resolve) => server.once('listening', resolve));
  const env = { ...world.env, PATH: `${bin}:${process.env.PATH}`, LOG: log };
  return { world, bin, log, more: { env, syslog: [socket] } };
}

describe("the system's log", () => {
  it('is the anchor where nothing else is said and there is one', async () => {
    const { world, more } = await machine();
    const found = async (change: object) =>
      (await wantedAnchors(world.tools({ ...more, ...change }))).targets;
    expect(await found({})).toEqual([{ kind: 'journal', where: '' }]);
    expect(await found({ syslog: [join(world.seal.dir, 'bin')] })).toEqual([]);
    expect(await found({ env: { ...more.env, PATH: '' } })).toEqual([]);
    world.settings('seal: {anchor: [file /a]}\n');
    expect(await found({})).toEqual([{ kind: 'file', where: '/a' }]);
  });

  it('gets origin, size and root, and is compared with the ledger', async () => {
    const { world, bin, log, more } = await machine();
    const { origin, size, root } = await world.grow();
    expect(troubles(await world.anchor('journal', more))).toEqual([undefined]);
    const line = `-t cuff-seal -- ${origin} ${size} ${Buffer.from(root).toString('base64')}\n`;
    expect(fs.readFileSync(log, 'utf8')).toBe(line);
    // Without journalctl it cannot be read, and only our note of it is left.
    const bare = { ...more, env: { ...more.env, PATH: bin } };
    const unread = await world.verify(bare);
    expect(unread.outside).toEqual([
      { kind: 'journal', where: '', why: 'there is no program journalctl here' },
    ]);
    expect(unread.ledger).toMatchObject({ anchor: undefined, noted: { kind: 'journal' } });
    fs.writeFileSync(join(bin, 'journalctl'), JOURNALCTL, { mode: 0o755 });
    const read = await world.verify(more);
    expect(read.ledger.anchor).toMatchObject({ kind: 'journal', size, at: 1_768_746_652_123 });
    world.rewrite();
    await world.ledger.sign();
    expect(verdicts(await world.verify(more))).toContain('history_rewritten');
  });

  it('that is not there, or whose program fails, is trouble with a reason', async () => {
    const { world, bin, more } = await machine();
    await world.grow();
    const none = troubles(await world.anchor('journal', { ...more, syslog: [] }));
    expect(none).toEqual(['this system has no log that takes lines']);
    fs.writeFileSync(join(bin, 'logger'), '#!/bin/sh\necho no room >&2; exit 4\n');
    const failed = troubles(await world.anchor('journal', more));
    expect(failed).toEqual(['logger failed: no room']);
  });
});
