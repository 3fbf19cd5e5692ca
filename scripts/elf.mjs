// Reads what the gates hold against a shared object: its class and machine, what it needs, which
// names it takes from others and which it gives, and how it is mapped. Little-endian ELF only.
import { readFileSync } from 'node:fs';

const PT_DYNAMIC = 2;
const DT_NEEDED = 1;
const DT_STRTAB = 5;
const DT_SYMTAB = 6;
const DT_GNU_HASH = 0x6ffffef5;
const DT_TEXTREL = 22;
const SECTION_DYNSYM = 11;
const BINDINGS = ['local', 'global', 'weak'];

/** What a 64-bit shared object says about itself. */
export function readElf(path) {
  const data = readFileSync(path);
  if (data.toString('latin1', 0, 4) !== '\x7fELF') throw new Error(`${path} is not an ELF file.`);
  if (data[4] !== 2) throw new Error(`${path} is not a 64-bit ELF file.`);
  const segments = segmentsOf(data);
  const dynamic = dynamicOf(
    data,
    segments.find((one) => one.type === PT_DYNAMIC),
  );
  const value = (tag) => dynamic.find((one) => one.tag === tag)?.value;
  const names = fileOffset(segments, value(DT_STRTAB));
  const text = (offset) => data.toString('latin1', names + offset, data.indexOf(0, names + offset));
  return {
    machine: data.readUInt16LE(18),
    segments,
    needed: dynamic.filter((one) => one.tag === DT_NEEDED).map((one) => text(one.value)),
    hasTextRelocations: value(DT_TEXTREL) !== undefined,
    hasGnuHash: value(DT_GNU_HASH) !== undefined,
    symbols: symbolsOf(data, fileOffset(segments, value(DT_SYMTAB)), text),
  };
}

function number(data, at) {
  return Number(data.readBigUInt64LE(at));
}

function segmentsOf(data) {
  const at = number(data, 32);
  const size = data.readUInt16LE(54);
  return Array.from({ length: data.readUInt16LE(56) }, (_, i) => {
    const entry = at + i * size;
    return {
      type: data.readUInt32LE(entry),
      flags: data.readUInt32LE(entry + 4),
      offset: number(data, entry + 8),
      address: number(data, entry + 16),
      fileBytes: number(data, entry + 32),
      memoryBytes: number(data, entry + 40),
    };
  });
}

function dynamicOf(data, segment) {
  const entries = [];
  for (let at = segment.offset; at < segment.offset + segment.fileBytes; at += 16) {
    const tag = number(data, at);
    if (tag === 0) break;
    entries.push({ tag, value: number(data, at + 8) });
  }
  return entries;
}

function fileOffset(segments, address) {
  const inside = ({ address: from, fileBytes }) => address >= from && address < from + fileBytes;
  const segment = segments.find((one) => one.type === 1 && inside(one));
  return segment.offset + address - segment.address;
}

/** The section table has the number of dynamic symbols; a stripped file keeps it. */
function symbolsOf(data, at, text) {
  const sections = number(data, 40);
  const size = data.readUInt16LE(58);
  const table = Array.from({ length: data.readUInt16LE(60) }, (_, i) => sections + i * size).find(
    (entry) => data.readUInt32LE(entry + 4) === SECTION_DYNSYM,
  );
  const count = number(data, table + 32) / 24;
  return Array.from({ length: count }, (_, i) => at + i * 24)
    .map((entry) => ({
      name: text(data.readUInt32LE(entry)),
      binding: BINDINGS[data[entry + 4] >> 4] ?? 'other',
      defined: data.readUInt16LE(entry + 6) !== 0,
    }))
    .filter((symbol) => symbol.name !== '');
}
