// The header of an age file (C2SP age, "The age file format", v1): for each recipient a stanza that
// wraps the key of the file, and a MAC over all of them. Read strictly: a header has one form only,
// so that no byte of it can be changed without being noticed.
//
//   age-encryption.org/v1
//   -> X25519 <share>             arguments of printable ASCII, by single spaces
//   <body, Base64 in lines of 64 letters, the last one shorter>
//   --- <MAC>

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const VERSION = 'age-encryption.org/v1\n';
const LINE_LETTERS = 64;
const MAC_BYTES = 32;

/** More than a hundred recipients; what needs more is no header. */
export const HEADER_BYTES_MAX = 65_536;

export type Stanza = {
  readonly type: string;
  readonly args: readonly string[];
  readonly body: Uint8Array;
};

/** What a file begins with: its key, and the stanzas that wrap it. */
export type FileKey = { readonly fileKey: Uint8Array; readonly stanzas: readonly Stanza[] };

export type Header = {
  readonly stanzas: readonly Stanza[];
  readonly mac: Uint8Array;
  /** What the MAC is over. */
  readonly signed: Uint8Array;
  /** Where the payload begins. */
  readonly end: number;
};

export function formatHeader(stanzas: readonly Stanza[], fileKey: Uint8Array): Buffer {
  const signed = Buffer.from(`${VERSION}${stanzas.map(formatStanza).join('')}---`, 'latin1');
  const mac = base64(macOf(fileKey, signed));
  return Buffer.concat([signed, Buffer.from(` ${mac}\n`, 'latin1')]);
}

/** Of a file that begins with these bytes; undefined where they are no header. */
export function parseHeader(start: Uint8Array): Header | undefined {
  const text = Buffer.from(start.subarray(0, HEADER_BYTES_MAX)).toString('latin1');
  if (!text.startsWith(VERSION)) return undefined;
  const stanzas: Stanza[] = [];
  for (let at = VERSION.length; ; ) {
    const line = lineAt(text, at);
    const mac = /^--- (\S+)$/.exec(line ?? '')?.[1];
    if (line === undefined) return undefined;
    if (mac !== undefined) {
      const bytes = fromBase64(mac);
      if (bytes?.length !== MAC_BYTES || stanzas.length === 0) return undefined;
      return { stanzas, mac: bytes, signed: start.subarray(0, at + 3), end: at + line.length + 1 };
    }
    const read = parseStanza(text, at, line);
    if (read === undefined) return undefined;
    stanzas.push(read.stanza);
    at = read.end;
  }
}

/** Whether nothing in the header was changed since it was written with this key. */
export function isGenuine({ signed, mac }: Header, fileKey: Uint8Array): boolean {
  return timingSafeEqual(macOf(fileKey, signed), mac);
}

/** Base64 without padding, in its one form for each value. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return base64(bytes) === text ? bytes : undefined;
}

function macOf(fileKey: Uint8Array, signed: Uint8Array): Buffer {
  const key = hkdfSync('sha256', fileKey, '', 'header', MAC_BYTES);
  return createHmac('sha256', Buffer.from(key)).update(signed).digest();
}

function formatStanza({ type, args, body }: Stanza): string {
  const letters = base64(body);
  const lines: string[] = [];
  for (let at = 0; at <= letters.length; at += LINE_LETTERS) {
    lines.push(letters.slice(at, at + LINE_LETTERS));
  }
  return `-> ${[type, ...args].join(' ')}\n${lines.join('\n')}\n`;
}

function parseStanza(text: string, start: number, first: string) {
  const [type, ...args] = /^->((?: [!-~]+)+)$/.exec(first)?.[1]?.slice(1).split(' ') ?? [];
  if (type === undefined) return undefined;
  let letters = '';
  for (let at = start + first.length + 1; ; ) {
    const line = lineAt(text, at);
    if (line === undefined || line.length > LINE_LETTERS) return undefined;
    letters += line;
    at += line.length + 1;
    if (line.length === LINE_LETTERS) continue;
    const body = fromBase64(letters);
    return body && { stanza: { type, args, body }, end: at };
  }
}

/** Without its end; undefined where the text has no whole line there. */
function lineAt(text: string, at: number): string | undefined {
  const end = text.indexOf('\n', at);
  return end < 0 ? undefined : text.slice(at, end);
}
