// Takes bytes and words out of a capture that is over. First the leaf says which bytes of its
// output, then they are written over, words of its other files go, and it is sealed anew: with
// another salt, because with the old one the bytes could be guessed from the old leaf. A capture
// with a redaction and no new leaf was cut off in between, and is finished by the next one.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ByteSource } from '../../capture/byte-source.ts';
import { type Decrypt, findSource, inMemory } from '../../capture/open-source.ts';
import { removeTemps } from '../../capture/packed/pack.ts';
import { type FileOps, replaceIn } from '../../capture/paths.ts';
import { active } from '../../capture/state.ts';
import { type Capture, openCapture } from '../../capture/store.ts';
import { wholeText } from '../../capture/words.ts';
import { namesIn } from '../../directories.ts';
import { AppError } from '../../errors.ts';
import { type Claim, claimIn } from '../../journal/claim.ts';
import type { Leaf } from '../../ledger/leaf.ts';
import type { ByteRange } from '../../ledger/tokens.ts';
import { type JsonObject, parseObject } from '../../text/json.ts';
import { holdFrames } from '../../trace/decode/mask.ts';
import { sealAnew } from '../captures.ts';
import { sayFirst } from '../first.ts';
import { ensureSealDir, sealDir } from '../place.ts';
import { checkReadable, EncryptedFiles, encryptedNames } from './encrypted.ts';
import { type BytesDisk, overwriteBytes, overwritten, rewriteBytes } from './overwrite.ts';
import { type RedactContext, saidBefore } from './said.ts';
import { fileSource } from './secret-ranges.ts';
import { unpackCapture } from './unpack.ts';

export type CapturePlan = {
  /** What stays of a document or a line of JSON. */
  readonly words: (json: JsonObject) => JsonObject;
  /** What stays of a line that is no JSON, as a crash leaves it. */
  readonly damaged: (line: string) => string;
  /** Which bytes of a file go. */
  readonly ranges: (source: Pick<ByteSource, 'size' | 'read'>) => readonly ByteRange[];
  /** Nothing stays of the trace, or all but some bytes. */
  readonly trace: 'removed' | 'ranges';
};

export type CaptureDisk = FileOps & BytesDisk & Pick<typeof fs, 'unlinkSync'>;

export type RedactedCapture = {
  /** Of output.bin; none where only words of its other files went. */
  readonly ranges: readonly ByteRange[];
  /** Names of files, within the capture. */
  readonly files: readonly string[];
};

type Findings = RedactedCapture & {
  readonly documents: readonly { readonly name: Document; readonly text: string }[];
  readonly bytes: ReadonlyMap<string, readonly ByteRange[]>;
  readonly trace: readonly ByteRange[] | 'removed';
};

const RANGES_MAX = 1_000; // of one leaf
const DOCUMENTS = ['meta.json', 'final.json', 'events.jsonl'] as const;
type Document = (typeof DOCUMENTS)[number];

/** What the plan would take out; undefined: nothing. */
export function findInCapture(capture: Capture, plan: CapturePlan): RedactedCapture | undefined {
  const { ranges, files } = findingsIn(capture, plan);
  return files.length === 0 ? undefined : { ranges, files };
}

export function isLiveCapture({ meta, final }: Capture, { store }: Pick<RedactContext, 'store'>) {
  return active(meta, final, store);
}

/**
 * Undefined: nothing was left to take out. Rejects with `usage` for a run that goes on, and as
 * decrypting does for a capture that is encrypted: nothing was changed then.
 */
export async function redactCapture(
  id: string,
  plan: CapturePlan,
  context: RedactContext & { readonly files?: CaptureDisk },
): Promise<RedactedCapture | undefined> {
  const { ledger, store, why, files: disk = fs } = context;
  const capture = openCapture(store, id);
  const { dir } = capture;
  if (isLiveCapture(capture, context)) throw unable(`The run ${id} goes on.`, END_IT);
  checkReadable(capture);
  const claim = await claimCaptures(dir, context);
  try {
    const encrypted =
      encryptedNames(dir).length === 0 ? undefined : new EncryptedFiles(capture, disk);
    encrypted?.finish();
    const cutOff = saidBefore(store.root).unfinished.get(id);
    const found = findingsIn(capture, plan);
    const { ranges, files } = found;
    if (files.length === 0 && cutOff === undefined) return undefined;
    const said = files.length === 0 || (cutOff !== undefined && covers(cutOff, ranges));
    await sayFirst(ledger, said ? [] : leavesOf(id, store.now(), ranges, why));
    const all = { ...found, bytes: withRanges(found.bytes, cutOff ?? []) };
    if (encrypted === undefined) {
      removeTemps(dir);
      unpackCapture(dir, disk);
      takeOut(dir, all, disk);
    } else takeOutEncrypted(encrypted, all);
    const write = (final: string): void => {
      if (encrypted !== undefined) encrypted.words('final.json', final);
      else replaceIn(dir, 'final.json', final, { sync: true, io: disk });
    };
    if (ledger !== undefined && (await sealAnew(id, { ledger, store }, write))) {
      await sayFirst(ledger, []);
    }
    return { ranges, files };
  } finally {
    claim.release();
  }
}

const END_IT = 'Nothing was redacted in it. End it, or wait for it, and redact again.';

function unable(message: string, hint: string): AppError {
  return new AppError('usage', message, { hint });
}

const CLAIM_TRIES = 100;
const CLAIM_PAUSE_MS = 100; // a server seals a capture in as much, as a rule

/** No other process packs, encrypts or hashes the capture meanwhile. */
async function claimCaptures(dir: string, context: RedactContext): Promise<Claim> {
  const { ledger, store } = context;
  const claims: Claim[] = [];
  const release = (): void => {
    for (const claim of claims) claim.release();
  };
  try {
    claims.push(await claimed(store.root, 'packer', context));
    claims.push(await claimed(dir, 'encrypt', context));
    if (ledger === undefined) return { release };
    ensureSealDir(store.root);
    claims.push(await claimed(sealDir(store.root), 'captures', context));
    return { release };
  } catch (error) {
    release();
    throw error;
  }
}

async function claimed(
  directory: string,
  subject: string,
  { owner, store }: RedactContext,
): Promise<Claim> {
  for (let tries = 1; ; tries += 1) {
    const claim = claimIn(directory, subject, owner, store.alive);
    if (claim !== undefined) return claim;
    if (tries === CLAIM_TRIES) {
      throw unable('Another process packs or seals captures.', 'Redact again when it is done.');
    }
    await delay(CLAIM_PAUSE_MS);
  }
}

function leavesOf(run: string, at: number, ranges: readonly ByteRange[], why: string): Leaf[] {
  if (ranges.length === 0) return [{ kind: 'redact-capture', run, at, ranges: null, why }];
  const leaves: Leaf[] = [];
  for (let from = 0; from < ranges.length; from += RANGES_MAX) {
    const some = ranges.slice(from, from + RANGES_MAX);
    leaves.push({ kind: 'redact-capture', run, at, ranges: some, why });
  }
  return leaves;
}

function covers(before: readonly ByteRange[], ranges: readonly ByteRange[]): boolean {
  return ranges.every(([from, to]) => before.some(([first, last]) => first <= from && to <= last));
}

function withRanges(
  bytes: Findings['bytes'],
  ranges: readonly ByteRange[],
): ReadonlyMap<string, readonly ByteRange[]> {
  if (ranges.length === 0) return bytes;
  return new Map([...bytes, ['output.bin', [...(bytes.get('output.bin') ?? []), ...ranges]]]);
}

function takeOut(dir: string, { documents, bytes, trace }: Findings, disk: CaptureDisk): void {
  for (const [name, ranges] of bytes) overwriteBytes(join(dir, name), ranges, disk);
  const path = join(dir, 'trace.bin');
  if (trace === 'removed') disk.unlinkSync(path);
  else if (trace.length > 0) overwriteTrace(path, trace, disk);
  for (const { name, text } of documents) replaceIn(dir, name, text, { sync: true, io: disk });
}

function takeOutEncrypted(files: EncryptedFiles, { documents, bytes, trace }: Findings): void {
  for (const [name, ranges] of bytes) files.bytes(name, (source) => overwritten(source, ranges));
  if (trace === 'removed') files.remove('trace.bin');
  else if (trace.length > 0) {
    files.bytes('trace.bin', (source) => {
      const block = Buffer.from(source.read(0, source.size));
      overwriteFrames(block, trace);
      return inMemory(source, block);
    });
  }
  for (const { name, text } of documents) {
    if (name !== 'events.jsonl') files.words(name, text);
    else files.bytes(name, (source) => inMemory(source, Buffer.from(text)));
  }
}

function overwriteTrace(path: string, ranges: readonly ByteRange[], disk: BytesDisk): void {
  rewriteBytes(path, (block) => overwriteFrames(block, ranges), { disk, whole: true });
}

function overwriteFrames(block: Buffer, ranges: readonly ByteRange[]): void {
  const before = Buffer.from(block);
  for (const [from, to] of ranges) block.fill('*', from, to);
  holdFrames(before, block);
}

function findingsIn({ dir, decrypt }: Capture, plan: CapturePlan): Findings {
  const documents = DOCUMENTS.flatMap((name) => {
    const ofFile = name === 'events.jsonl';
    const before = ofFile ? textIn(dir, name, decrypt) : wholeText(dir, name, decrypt);
    const text = before === undefined ? undefined : changedText(before, plan);
    return text === undefined || text === before ? [] : [{ name, text }];
  });
  const bytes = new Map<string, readonly ByteRange[]>();
  const copies = isDirectory(join(dir, 'text')) ? namesIn(join(dir, 'text')) : [];
  const sources = [
    ['output.bin', () => findSource(dir, 'output.bin', decrypt)] as const,
    ...copies.map((one) => [join('text', one), () => fileSource(join(dir, 'text', one))] as const),
  ];
  for (const [name, open] of sources) {
    const ranges = within(open(), plan.ranges);
    if (ranges.length > 0) bytes.set(name, ranges);
  }
  const trace = traceFindings(findSource(dir, 'trace.bin', decrypt), plan);
  const files = [
    ...bytes.keys(),
    ...documents.map(({ name }) => name),
    ...(trace === 'removed' || trace.length > 0 ? ['trace.bin'] : []),
  ];
  return { documents, bytes, trace, ranges: bytes.get('output.bin') ?? [], files };
}

function traceFindings(source: ByteSource | undefined, plan: CapturePlan): Findings['trace'] {
  if (plan.trace === 'ranges' || source === undefined) return within(source, plan.ranges);
  source.close();
  return 'removed';
}

function within(
  source: Pick<ByteSource, 'size' | 'read' | 'close'> | undefined,
  ranges: CapturePlan['ranges'],
): readonly ByteRange[] {
  if (source === undefined) return [];
  try {
    return ranges(source);
  } finally {
    source.close();
  }
}

/** Undefined where there is no such file. */
function textIn(dir: string, name: string, decrypt?: Decrypt): string | undefined {
  const source = findSource(dir, name, decrypt);
  if (source === undefined) return undefined;
  try {
    return Buffer.from(source.read(0, source.size)).toString();
  } finally {
    source.close();
  }
}

/** And no link to one. */
function isDirectory(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function changedText(text: string, { words, damaged }: CapturePlan): string {
  const lines = text.split('\n').map((line) => {
    const json = parseObject(line);
    if (json === undefined) return line === '' ? line : damaged(line);
    const changed = words(json);
    return changed === json ? line : JSON.stringify(changed);
  });
  return lines.join('\n');
}
