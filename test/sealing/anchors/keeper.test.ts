// Anchors by themselves: when a server makes them, and that nothing of it fails anything.
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatVerifierKey, signerKey } from '../../../src/ledger/note-keys.ts';
import { AnchorKeeper } from '../../../src/sealing/anchors/keeper.ts';
import { FACT_MS_MAX } from '../../pace.ts';
import { ME } from '../helper.ts';
import { AnchorWorld } from './world.ts';

const MINUTE_MS = 60_000;

class Server {
  readonly world = new AnchorWorld();
  readonly outside = join(this.world.seal.dir, 'outside.log');
  readonly said: string[] = [];
  readonly keeper: AnchorKeeper;

  constructor() {
    const { seal, ledger, env, project } = this.world;
    this.keeper = new AnchorKeeper({
      ledger,
      stateRoot: seal.root,
      project,
      owner: ME,
      alive: seal.alive,
      env,
      now: () => seal.time,
      log: (_, message, fields) => this.said.push(`${message}: ${fields?.error}`),
      syslog: [],
    });
    this.world.settings(`seal: {anchor: [file ${this.outside}, trailer]}\n`);
  }

  /** How many lines there are when it has looked. */
  async look(): Promise<number> {
    this.keeper.look();
    await this.keeper.looked();
    return this.count;
  }

  get count(): number {
    if (fs.statSync(this.outside, { throwIfNoEntry: false })?.isFile() !== true) return 0;
    return fs.readFileSync(this.outside, 'utf8').split('\n').length - 1;
  }
}

describe('a server', () => {
  it('anchors what is new, at most every five minutes', async () => {
    const server = new Server();
    const { world } = server;
    expect(await server.look()).toBe(0); // there is no ledger yet
    await world.grow();
    expect(await server.look()).toBe(1);
    await world.grow();
    world.seal.time += 4 * MINUTE_MS;
    expect(await server.look()).toBe(1);
    world.seal.time += MINUTE_MS;
    expect(await server.look()).toBe(2);
    world.seal.time += 60 * MINUTE_MS;
    // Only its own leaf is newer.
    expect(await server.look()).toBe(2);
    expect(server.said).toEqual([]);
  });

  it('anchors once more when it ends, if there is anything', async () => {
    const server = new Server();
    await server.world.grow();
    expect(await server.look()).toBe(1);
    await server.world.grow();
    await server.keeper.close();
    expect(server.count).toBe(2);
    await server.keeper.close();
    expect(server.count).toBe(2);
  });

  it('brings what one place has got to one that failed, with nothing new in between', async () => {
    const server = new Server();
    const { world } = server;
    const late = join(world.seal.dir, 'late', 'outside.log');
    world.settings(`seal: {anchor: [file ${server.outside}, file ${late}]}\n`);
    await world.grow();
    expect(await server.look()).toBe(1);
    fs.mkdirSync(join(world.seal.dir, 'late'));
    world.seal.time += 5 * MINUTE_MS;
    expect(await server.look()).toBe(1);
    expect(fs.readFileSync(late, 'utf8')).toMatch(/ 5 \S+\n$/);
  });

  it('leaves it to another one that does it, and not to one that died', async () => {
    const server = new Server();
    const { world } = server;
    await world.grow();
    const other = { pid: 77, startTime: 5 };
    world.seal.ledger({ owner: other });
    fs.writeFileSync(world.seal.path('anchor-77-5-00000000.claim'), '');
    expect(await server.look()).toBe(0);
    world.seal.kill(other);
    expect(await server.look()).toBe(1);
  });

  it('says once that a place fails, tries it later, and not at the end', async () => {
    const server = new Server();
    const { world } = server;
    fs.mkdirSync(server.outside);
    await world.grow();
    for (let n = 0; n < 3; n += 1) {
      await server.look();
      world.seal.time += 5 * MINUTE_MS;
    }
    const why = `file ${server.outside}: it cannot be written: EISDIR`;
    expect(server.said).toEqual([`Ledger not anchored: ${why}`]);
    fs.rmdirSync(server.outside);
    await server.keeper.close();
    expect(server.count).toBe(0);
    expect(await server.look()).toBe(1);
  });

  it('gives up on a look that hangs when it ends', { timeout: FACT_MS_MAX }, async () => {
    const server = new Server();
    const { world } = server;
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const asked = new Promise<void>((resolve) => silent.once('connection', () => resolve()));
    const { port } = silent.address() as { port: number };
    const key = signerKey('witness.example/w', new Uint8Array(32).fill(7), 'cosignature');
    const vkey = formatVerifierKey(key.verifier);
    world.settings(`seal: {anchor: ["witness http://127.0.0.1:${port} ${vkey}"]}\n`);
    await world.grow();
    server.keeper.look();
    await asked;
    await server.keeper.close();
    expect(server.said).toEqual([
      `Ledger not anchored: witness http://127.0.0.1:${port}: it did not answer in time`,
    ]);
    await new Promise((resolve) => silent.close(resolve));
  });
});
