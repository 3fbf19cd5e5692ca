// What the ledger itself notes about its anchors: a line of `anchors.jsonl` for each that was put
// somewhere, {"at","kind","size","root","where","receipt"}, and `anchor-troubles.json` with those
// that failed the last time, [{"at","kind","where","why"}].

import * as fs from 'node:fs';
import { replaceFile } from '../../directories.ts';
import { base64 } from '../../ledger/base64.ts';
import { parseLeaf } from '../../ledger/leaf.ts';
import { asCount, asObject, asString, parseJson, parseObject } from '../../text/json.ts';
import { openForAppending, openForReading, readSmall, sealFile, shortWrite } from '../place.ts';
import { placeText } from '../verify/outside.ts';
import type { SignedHead } from './place.ts';
import type { AnchorTarget } from './target.ts';

export type PutAnchor = {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly kind: string;
  readonly where: string;
  readonly size: number;
};

export type FailedAnchor = {
  readonly at: number;
  readonly kind: string;
  readonly where: string;
  /** One clause. */
  readonly why: string;
};

/** Throws the error of the system call. */
export function noteAnchor(
  stateRoot: string,
  { kind, where }: AnchorTarget,
  { size, root }: SignedHead,
  { at, receipt }: { readonly at: number; readonly receipt: string | null },
): void {
  const said = { at: new Date(at).toISOString(), kind, size, root: base64(root), where, receipt };
  const path = sealFile(stateRoot, 'anchors.jsonl');
  const bytes = Buffer.from(`${JSON.stringify(said)}\n`);
  const fd = openForAppending(path);
  try {
    if (fs.writeSync(fd, bytes) < bytes.length) throw shortWrite(path);
  } finally {
    fs.closeSync(fd);
  }
}

/** Oldest first. Never throws. */
export function putAnchors(stateRoot: string): readonly PutAnchor[] {
  return textOf(stateRoot, 'anchors.jsonl')
    .split('\n')
    .flatMap((line) => {
      const json = line === '' ? undefined : parseObject(line);
      const [size, kind] = [asCount(json?.size), asString(json?.kind)];
      const at = Date.parse(asString(json?.at) ?? '');
      if (size === undefined || kind === undefined || Number.isNaN(at)) return [];
      return [{ at, kind, size, where: asString(json?.where) ?? '' }];
    });
}

/** Those of targets that were tried now take the place of what was said of them before. */
export function noteTroubles(
  stateRoot: string,
  tried: readonly AnchorTarget[],
  failed: readonly FailedAnchor[],
): void {
  const names = new Set(tried.map(placeText));
  const before = failedAnchors(stateRoot);
  const others = before.filter((one) => !names.has(placeText(one)));
  if (before.length === 0 && failed.length === 0) return;
  const all = [...others, ...failed].map((one) => ({ ...one, at: isoText(one.at) }));
  replaceFile(sealFile(stateRoot, 'anchor-troubles.json'), `${JSON.stringify(all)}\n`);
}

/** Never throws. */
export function failedAnchors(stateRoot: string): readonly FailedAnchor[] {
  const json = parseJson(textOf(stateRoot, 'anchor-troubles.json'));
  return (Array.isArray(json) ? json : []).flatMap((value) => {
    const one = asObject(value);
    const [kind, why] = [asString(one?.kind), asString(one?.why)];
    if (kind === undefined || why === undefined) return [];
    const at = Date.parse(asString(one?.at) ?? '') || 0;
    return [{ at, kind, where: asString(one?.where) ?? '', why }];
  });
}

const TAIL_BYTES = 16_384;

/**
 * Whether the ledger has anything that was not put there yet, but leaves that say where an anchor
 * is. Of many lines it is taken for granted.
 */
export function hasNewsFor(
  { kind, where }: AnchorTarget,
  stateRoot: string,
  size: number,
): boolean {
  const own = putAnchors(stateRoot).filter((one) => one.kind === kind && one.where === where);
  const anchored = own.reduce((most, one) => Math.max(most, one.size), 0);
  if (anchored === 0 || anchored >= size) return size > anchored;
  const tail = lastLines(stateRoot, size - anchored);
  return tail === undefined || tail.some((line) => parseLeaf(line)?.kind !== 'anchor');
}

/** Undefined where they are too long to be only anchors. */
function lastLines(stateRoot: string, count: number): string[] | undefined {
  const fd = openForReading(sealFile(stateRoot, 'leaves'));
  try {
    const { size } = fs.fstatSync(fd);
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    fs.readSync(fd, tail, 0, tail.length, size - tail.length);
    const lines = tail.toString('latin1').match(/[^\n]*\n/g) ?? [];
    return lines.length <= count ? undefined : lines.slice(-count);
  } finally {
    fs.closeSync(fd);
  }
}

function isoText(at: number): string {
  return new Date(at).toISOString();
}

function textOf(stateRoot: string, name: 'anchors.jsonl' | 'anchor-troubles.json'): string {
  try {
    return readSmall(sealFile(stateRoot, name)) ?? '';
  } catch {
    return ''; // as if nothing had been noted
  }
}
