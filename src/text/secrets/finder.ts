// Finds secrets in bytes that come in pieces of any size: tokens of well-known shapes and values of
// known variables, each also encoded. What is found does not depend on the sizes of the pieces:
// bytes are looked at in blocks that begin at fixed offsets, each with enough of what is before and
// behind it, and a secret belongs to the block in which it begins. Memory and time for a byte are
// bounded.

import type { KnownValues } from './known-values.ts';
import { isPlaceholder } from './placeholders.ts';
import { TOKEN_KINDS, type TokenKind, UNCHECKED } from './token-kinds.ts';
import { type Encoding, type View, viewsOf } from './views.ts';

export type FoundSecret = {
  /** `variable` for the value of a known variable. */
  readonly kind: string;
  /** Of the variable. */
  readonly name?: string;
  readonly encoding: Encoding;
  /** Offsets of its bytes, encoded as they are. */
  readonly from: number;
  readonly to: number;
  /** The secret itself, decoded. It must not leave the process. */
  readonly secret: string;
};

const BLOCK_BYTES = 262_144;
/** More than a pattern looks back. */
const BEFORE_BYTES = 1_024;
/** More than the longest secret has in its longest encoding. */
const BEHIND_BYTES = 32_768;

export class SecretFinder {
  readonly #known: KnownValues;
  #parts: Buffer[] = [];
  /** Of all parts together. */
  #length = 0;
  /** The offset of the first of them. */
  #start = 0;
  /** Where the next block begins. */
  #block = 0;

  constructor(known: KnownValues) {
    this.#known = known;
  }

  /** Secrets that begin in bytes pushed before, and in these as far as they can be judged. */
  push(bytes: Uint8Array): readonly FoundSecret[] {
    this.#parts.push(Buffer.from(bytes));
    this.#length += bytes.length;
    const found: FoundSecret[] = [];
    while (this.#start + this.#length >= this.#block + BLOCK_BYTES + BEHIND_BYTES) {
      found.push(...this.#scan(this.#block + BLOCK_BYTES));
    }
    return found;
  }

  end(): readonly FoundSecret[] {
    const found: FoundSecret[] = [];
    while (this.#block < this.#start + this.#length) {
      found.push(...this.#scan(this.#block + BLOCK_BYTES));
    }
    return found;
  }

  #scan(until: number): readonly FoundSecret[] {
    const all = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    const bytes = all ?? Buffer.alloc(0);
    const start = this.#start;
    const text = bytes.toString('latin1', 0, until + BEHIND_BYTES - start);
    const found: FoundSecret[] = [];
    for (const one of secretsIn(text, this.#known)) {
      const from = start + one.from;
      if (from < this.#block || from >= until) continue;
      found.push({ ...one, from, to: start + one.to });
    }
    this.#block = until;
    const kept = Math.min(bytes.length, Math.max(0, until - BEFORE_BYTES - start));
    this.#parts = [bytes.subarray(kept)];
    this.#start += kept;
    this.#length = bytes.length - kept;
    return found.sort((a, b) => a.from - b.from);
  }
}

/** Those in a text that is no longer than a block, one character for each byte. */
export function* secretsIn(
  text: string,
  known: KnownValues,
): Generator<FoundSecret, void, undefined> {
  for (const { name, value, encoding, from, to } of known.find(text)) {
    yield { kind: 'variable', name, encoding, from, to, secret: value };
  }
  const seen = new Set<string>();
  for (const view of viewsOf(text)) {
    for (const { kind, from, to, secret } of tokensIn(view)) {
      const key = `${kind} ${from}`;
      if (seen.has(key)) continue; // in the text itself, and where nothing of it was encoded
      seen.add(key);
      yield { kind, encoding: view.encoding, from, to, secret };
    }
  }
}

type Compiled = TokenKind & { readonly at: RegExp };

/** Kinds by the first signs of their hints, which is all that most of a text is looked at for. */
class Hints {
  readonly #kinds = new Map<number, Compiled[]>();
  readonly #shift: number;
  readonly #mask: number;
  readonly #fold: number;
  readonly #back: number;
  readonly #known: Uint8Array;

  /** `count`: so many signs; in letters of any size if `anyCase`. */
  constructor(count: number, anyCase: boolean) {
    this.#fold = anyCase ? 0x20 : 0;
    this.#shift = Math.floor(16 / count);
    this.#mask = (1 << (this.#shift * count)) - 1;
    for (const one of TOKEN_KINDS.filter((kind) => (kind.anyCase === true) === anyCase)) {
      const kind = { ...one, at: new RegExp(one.pattern, anyCase ? 'yi' : 'y') };
      for (const key of new Set(one.hints.map((hint) => this.#keyOf(hint.slice(0, count))))) {
        const kinds = this.#kinds.get(key) ?? [];
        this.#kinds.set(key, [...kinds, kind]);
      }
    }
    this.#back = count - 1;
    this.#known = new Uint8Array(this.#mask + 1);
    for (const key of this.#kinds.keys()) this.#known[key] = 1;
  }

  /** Where a token may begin, and which. */
  *in(text: string): Generator<{ readonly index: number; readonly kinds: readonly Compiled[] }> {
    const known = this.#known;
    let key = 0;
    for (let at = 0; at < text.length; at += 1) {
      key = this.#next(key, text.charCodeAt(at));
      if (known[key] === 0) continue;
      yield { index: at - this.#back, kinds: this.#kinds.get(key) ?? [] };
    }
  }

  #keyOf(signs: string): number {
    let key = 0;
    for (let at = 0; at < signs.length; at += 1) key = this.#next(key, signs.charCodeAt(at));
    return key;
  }

  /** Signs that are further back than `count` are shifted out. */
  #next(key: number, code: number): number {
    return ((key << this.#shift) ^ (code | this.#fold)) & this.#mask;
  }
}

/** Tokens are written as they are; what is known by a name, in letters of any size. */
const HINTS = [new Hints(3, false), new Hints(4, true)];

type Token = Pick<FoundSecret, 'kind' | 'from' | 'to' | 'secret'>;

function* tokensIn(view: View): Generator<Token, void, undefined> {
  const { text } = view;
  /** Where what looked like a token of this kind ended: nothing inside of it is another. */
  const ends = new Map<string, number>();
  for (const hints of HINTS) {
    for (const { index, kinds } of hints.in(text)) {
      for (const kind of kinds) {
        if (index < (ends.get(kind.pattern) ?? 0)) continue;
        kind.at.lastIndex = index;
        const match = kind.at.exec(text);
        if (match === null) continue;
        ends.set(kind.pattern, index + match[0].length);
        const found = tokenOf(view, kind, match);
        if (found !== undefined) yield found;
      }
    }
  }
}

function tokenOf(view: View, { kind, check }: Compiled, match: RegExpExecArray): Token | undefined {
  const { back = '', secret = back + match[0] } = match.groups ?? {};
  if (!UNCHECKED.has(kind) && isPlaceholder(secret)) return undefined;
  if (check !== undefined && !check(secret, match)) return undefined;
  const from = match.index + (back === '' ? match[0].lastIndexOf(secret) : -back.length);
  return { kind, from: view.rawAt(from), to: view.rawAt(match.index + match[0].length), secret };
}
