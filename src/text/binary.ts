// Output that is no text: how it is recognised, and the one line that is said instead of it.
import { formatSize } from './size.ts';

const SAMPLE_BYTES_MAX = 8_192; // as much as git looks at for a NUL
const ODD_SHARE_MAX = 0.1; // a log in an old encoding has fewer, a random file three times as many
const BROKEN_FEW = 3; // a word in an old encoding, in an output that is not much longer
const HEAD_BYTES = 8;

/** What a file starts with. `at`: behind so many bytes. */
const MAGIC: readonly { readonly kind: string; readonly hex: string; readonly at?: number }[] = [
  { kind: 'ELF', hex: '7f454c46' },
  { kind: 'gzip', hex: '1f8b' },
  { kind: 'zip', hex: '504b0304' },
  { kind: 'zip', hex: '504b0506' },
  { kind: 'bzip2', hex: '425a68' },
  { kind: 'xz', hex: 'fd377a585a00' },
  { kind: 'zstd', hex: '28b52ffd' },
  { kind: 'PNG', hex: '89504e470d0a1a0a' },
  { kind: 'JPEG', hex: 'ffd8ff' },
  { kind: 'GIF', hex: '47494638' },
  { kind: 'WebP', hex: '57454250', at: 8 },
  { kind: 'PDF', hex: '255044462d' },
  { kind: 'SQLite', hex: '53514c69746520666f726d6174203300' },
  { kind: 'WebAssembly', hex: '0061736d' },
  { kind: 'Java class', hex: 'cafebabe' },
  { kind: 'Mach-O', hex: 'cffaedfe' },
  { kind: 'PE', hex: '4d5a' },
  { kind: 'tar', hex: '7573746172', at: 257 },
  { kind: 'UTF-16', hex: 'fffe' },
  { kind: 'UTF-16', hex: 'feff' },
];
const MAGIC_BYTES_MAX = 264;

/**
 * Whether bytes are better not shown as text: too many of them are neither UTF-8 nor what a program
 * sends to a terminal, or they start as a file of a known kind does and a NUL is among them. One
 * NUL alone decides nothing: a killed writer leaves some in a log. Looks at a sample, so it costs
 * the same for any size; bytes that are not there yet may still change the answer.
 */
export function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES_MAX);
  if (sample.length === 0) return false;
  if (startsAs(sample, 'fffe') || startsAs(sample, 'feff')) return true;
  if (sample.includes(0) && kindOf(sample) !== undefined) return true;
  const { controls, broken } = oddBytes(sample);
  if (controls === 0 && broken <= BROKEN_FEW) return false;
  return controls + broken > sample.length * ODD_SHARE_MAX;
}

/** `[binary output, 1.2 MiB, starts with 7f 45 4c 46 02 01 01 00 (ELF)]` */
export function describeBinary(output: {
  /** The first bytes; 264 are enough to tell every kind. */
  readonly head: Uint8Array;
  readonly totalBytes: number;
}): string {
  const { head, totalBytes } = output;
  const kind = kindOf(head);
  const hex = Array.from(head.subarray(0, HEAD_BYTES), (byte) =>
    byte.toString(16).padStart(2, '0'),
  );
  const starts = hex.length === 0 ? '' : `, starts with ${hex.join(' ')}`;
  const named = kind === undefined ? '' : ` (${kind})`;
  return `[binary output, ${formatSize(totalBytes)}${starts}${named}]`;
}

function kindOf(bytes: Uint8Array): string | undefined {
  const head = bytes.subarray(0, MAGIC_BYTES_MAX);
  return MAGIC.find(({ hex, at = 0 }) => startsAs(head.subarray(at), hex))?.kind;
}

function startsAs(bytes: Uint8Array, hex: string): boolean {
  const magic = Buffer.from(hex, 'hex');
  return magic.equals(bytes.subarray(0, magic.length));
}

/** How many bytes are neither text nor part of what a terminal understands. */
function oddBytes(sample: Uint8Array): { readonly controls: number; readonly broken: number } {
  // A character that is not whole at the end is none: a piece of a stream may end anywhere.
  const text = new TextDecoder().decode(sample, { stream: true });
  let [controls, broken] = [0, 0];
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 0xfffd) broken += 1;
    else if (isOddControl(code)) controls += 1;
  }
  return { controls, broken };
}

/** DEL, and controls but those from BEL to `\r` and ESC. */
function isOddControl(code: number): boolean {
  return code === 0x7f || (code < 0x20 && (code < 0x07 || code > 0x0d) && code !== 0x1b);
}
