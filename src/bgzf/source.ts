// A packed file as the bytes that were packed, from any position. What cannot be unpacked is an
// error and never other bytes: each member has a checksum, and its neighbours in the table have to
// begin where it says. A table that is lost or does not fit is made anew by walking the members.
import { AppError } from '../errors.ts';
import type { ByteSource } from './bytes.ts';
import { END_MEMBER, unpackMember } from './member.ts';
import { memberAt, memberWith, storedTable, type Table, walkedTable } from './table.ts';

// A search in an index comes back to the same few members.
const KEPT_MEMBERS = 4;

/** `name` is for messages. Closing it closes `packed` and `table`. Throws `capture_damaged`. */
export function packedSource(
  packed: ByteSource,
  table: ByteSource | undefined,
  name: string,
): ByteSource {
  const tail = Math.max(0, packed.size - END_MEMBER.length);
  if (Buffer.compare(packed.read(tail, END_MEMBER.length), END_MEMBER) !== 0) throw cut(name);
  const stored = table && storedTable(packed, table);
  let members = stored ?? walked(packed, name);
  const { size } = members;
  const kept = new Map<number, Uint8Array>();
  const memberOf = (position: number): Member => {
    const member = memberWith(members, position);
    const bytes = kept.get(member) ?? unpacked(packed, members, member);
    const place = members.place(member);
    if (bytes !== undefined) {
      keep(kept, member, bytes);
      return { bytes, from: place.plain };
    }
    if (members !== stored) throw damaged(name, place.packed);
    members = walked(packed, name);
    if (members.size !== size) throw damaged(`${name}.gzi`, 0);
    kept.clear();
    return memberOf(position);
  };
  return {
    size,
    changedAt: packed.changedAt,
    read(position, length) {
      const end = Math.min(position + length, size);
      const parts: Uint8Array[] = [];
      for (let at = position; at < end; ) {
        const { bytes, from } = memberOf(at);
        const part = bytes.subarray(at - from, end - from);
        if (part.length === 0) throw damaged(name, 0);
        parts.push(part);
        at += part.length;
      }
      return parts.length === 1 ? (parts[0] ?? new Uint8Array()) : Buffer.concat(parts);
    },
    close() {
      packed.close();
      table?.close();
    },
  };
}

type Member = {
  readonly bytes: Uint8Array;
  /** Which plain byte is its first. */
  readonly from: number;
};

function walked(packed: ByteSource, name: string): Table {
  const found = walkedTable(packed);
  if (typeof found === 'number') throw damaged(name, found);
  return found;
}

function keep(kept: Map<number, Uint8Array>, member: number, bytes: Uint8Array): void {
  kept.delete(member);
  kept.set(member, bytes);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MEMBERS && oldest !== undefined) kept.delete(oldest);
}

/** Undefined where the member is damaged, or is not the one that the table speaks of. */
function unpacked(packed: ByteSource, table: Table, member: number): Uint8Array | undefined {
  const { packed: at, plain } = table.place(member);
  const head = memberAt(packed, at);
  if (head === undefined) return undefined;
  if (member + 1 < table.count) {
    const next = table.place(member + 1);
    if (next.packed !== at + head.bytes || next.plain !== plain + head.plain) return undefined;
  }
  const bytes = packed.read(at, head.bytes);
  return bytes.length === head.bytes ? unpackMember(bytes, head) : undefined;
}

function cut(name: string): AppError {
  return new AppError('capture_damaged', `${name} is damaged: its end is missing.`, {
    hint: `See what is left of it with \`zcat ${name}\`.`,
  });
}

function damaged(name: string, at: number): AppError {
  return new AppError('capture_damaged', `${name} is damaged at byte ${at}.`, {
    hint: `See what is before that with \`zcat ${name}\`.`,
  });
}
