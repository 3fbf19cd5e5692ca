// A sealed capture with a secret in all of its files, encrypted for two recipients.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { openAge } from '../../../src/age/file.ts';
import { type Identity, newIdentity } from '../../../src/age/x25519.ts';
import { type Decrypt, findSource } from '../../../src/capture/open-source.ts';
import { encryptCapture } from '../../../src/capture/packed/encrypt.ts';
import { wholeText } from '../../../src/capture/words.ts';
import { AppError } from '../../../src/errors.ts';
import { sealCaptures } from '../../../src/sealing/captures.ts';
import { to } from '../../age/helper.ts';
import { encodeTrace, HEADER } from '../../trace/encode.ts';
import { exit, start } from '../../trace/frames.ts';
import { ME } from '../helper.ts';
import { RedactWorld } from './helper.ts';

export const mine = newIdentity();
export const team = newIdentity();
const LINES = 'a line of output\n'.repeat(4_500); // of more than one member
export const OUTPUT = `${LINES}SECRET-WORDS here\r\nand SECRET-WORDS\n`;
const NAMES = ['output.bin', 'events.jsonl', 'trace.bin'];
export const EVENT = { type: 'survivors', processes: [{ pid: 7, command: 'SECRET-WORDS' }], t: 1 };

export function keyOf(identity: Identity): Decrypt {
  return (file, path) => {
    const bytes = openAge(file, path, [identity]);
    if (bytes !== undefined) return { ...file, size: bytes.size, read: bytes.read };
    throw new AppError('decryption_failed', 'not for this identity');
  };
}

/** A sealed capture, encrypted for me and for the team, and its world with my identity. */
export async function encryptedCapture() {
  const world = new RedactWorld();
  world.decrypt = keyOf(mine);
  const ledger = world.ledger();
  const { id, dir } = await world.captureOf(undefined, { output: OUTPUT, command: 'SECRET-WORDS' });
  const trace = encodeTrace(HEADER, [start(0, 7, ['show', 'SECRET-WORDS']), exit(5, 7, 0)]);
  fs.writeFileSync(join(dir, 'trace.bin'), trace, { mode: 0o600 });
  fs.writeFileSync(join(dir, 'events.jsonl'), `${JSON.stringify(EVENT)}\n`, { mode: 0o600 });
  await sealCaptures({ ledger, store: world.store, owner: ME });
  return { world, ledger, id, dir };
}

export async function closedCapture() {
  const made = await encryptedCapture();
  encryptCapture(made.dir, [to(mine), to(team)]);
  return made;
}

/** All of it, as one of its recipients reads it. */
export function contents(dir: string, identity: Identity): Record<string, string> {
  const decrypt = keyOf(identity);
  const files = NAMES.map((name) => {
    const source = findSource(dir, name, decrypt);
    const text = source && Buffer.from(source.read(0, source.size)).toString('latin1');
    source?.close();
    return [name, text ?? ''];
  });
  const words = ['meta.json', 'final.json'].map((name) => [name, wholeText(dir, name, decrypt)]);
  return Object.fromEntries([...files, ...words]);
}

export function secretIn(dir: string): string[] {
  const all = Object.entries(contents(dir, mine));
  return all.filter(([, text]) => text.includes('SECRET')).map(([name]) => name);
}
