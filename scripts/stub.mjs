// Makes the shared objects that do nothing: what the loader of a 32-bit program finds in the shim's
// place, so that it says nothing about a library of the wrong class. Written byte by byte, because
// a compiler for such programs is rarely installed. `node scripts/stub.mjs` writes
// native/shim/stubs, which the build and an installed package take them from.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const STUBS_FILE = join(
  dirname(fileURLToPath(import.meta.url)),
  ...['..', 'native', 'shim', 'stubs'],
);

/** Machine number and flags of the header. x32 is x86-64 with pointers of 32 bits. */
const MACHINES = {
  i386: { machine: 3, flags: 0 },
  x32: { machine: 62, flags: 0 },
  arm: { machine: 40, flags: 0x05000000 },
};

const HEADER_BYTES = 52;
const SEGMENT_BYTES = 32;
const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_GNU_STACK = 0x6474e551;
const READ_WRITE = 6;

/** `name hex` lines, one per stub. */
export function stubsText() {
  const lines = Object.entries(MACHINES).map(
    ([name, facts]) => `${name} ${stub(facts).toString('hex')}\n`,
  );
  return lines.join('');
}

/** One segment with everything in it, writable because the loader relocates the table in place. */
function stub({ machine, flags }) {
  const dynamicAt = HEADER_BYTES + 3 * SEGMENT_BYTES;
  const tables = [4, 5, 6, 10, 11]; // hash, names, symbols, size of names, size of a symbol
  const dynamicBytes = (tables.length + 1) * 8;
  const symbolsAt = dynamicAt + dynamicBytes;
  const hashAt = symbolsAt + 16;
  const namesAt = hashAt + 16;
  const total = namesAt + 4;
  const data = Buffer.alloc(total);
  data.set([0x7f, 0x45, 0x4c, 0x46, 1, 1, 1]);
  data.writeUInt16LE(3, 16); // a shared object
  data.writeUInt16LE(machine, 18);
  data.writeUInt32LE(1, 20);
  data.writeUInt32LE(HEADER_BYTES, 28);
  data.writeUInt32LE(flags, 36);
  data.writeUInt16LE(HEADER_BYTES, 40);
  data.writeUInt16LE(SEGMENT_BYTES, 42);
  data.writeUInt16LE(3, 44);
  const segment = (index, type, at, bytes, align) => {
    const words = [type, at, at, at, bytes, bytes, READ_WRITE, align];
    words.forEach((word, i) => {
      data.writeUInt32LE(word, HEADER_BYTES + index * SEGMENT_BYTES + i * 4);
    });
  };
  segment(0, PT_LOAD, 0, total, machine === MACHINES.arm.machine ? 0x10000 : 0x1000);
  segment(1, PT_DYNAMIC, dynamicAt, dynamicBytes, 4);
  segment(2, PT_GNU_STACK, 0, 0, 16);
  const values = [hashAt, namesAt, symbolsAt, 1, 16];
  tables.forEach((tag, i) => {
    data.writeUInt32LE(tag, dynamicAt + i * 8);
    data.writeUInt32LE(values[i], dynamicAt + i * 8 + 4);
  });
  data.writeUInt32LE(1, hashAt); // one bucket, empty; one symbol, the empty one
  data.writeUInt32LE(1, hashAt + 4);
  return data;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(STUBS_FILE, stubsText());
