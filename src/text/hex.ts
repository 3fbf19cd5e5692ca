// Bytes as `xxd` shows them: 16 in a line, behind their position, and as far as they are text.

export const HEX_LINE_LENGTH = 68;

const LINE_BYTES = 16;

export function hexText(bytes: Uint8Array, from: number): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    const some = [...bytes.subarray(at, at + LINE_BYTES)];
    const hex = some.map((byte, i) => `${i % 2 === 0 ? ' ' : ''}${digits(byte, 2)}`).join('');
    const text = some.map((byte) => (byte >= 0x20 && byte < 0x7f ? byte : 0x2e));
    lines.push(`${digits(from + at, 8)}:${hex.padEnd(40)}  ${String.fromCharCode(...text)}\n`);
  }
  return lines.join('');
}

function digits(value: number, length: number): string {
  return value.toString(16).padStart(length, '0');
}
