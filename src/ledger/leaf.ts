// The lines of a ledger. A leaf is one line with its `\n`: tokens between single spaces, `-` for
// nothing, at most 65,535 bytes. Verifiers hash the bytes that they are given; this file is the
// only one that knows what they say. J is a journal, S a session, N the number of an entry, R a
// run, T a time as the writer claims it; words in capitals at the end are commitments:
//
//   cuff/1 open           J S T agent             a session begins, or is gone on with
//   cuff/1 close          J S T status count      it ended; entries behind it need another open
//   cuff/1 entry          J S N T live|late|spool|import FACTS TEXT STDOUT STDERR [R]
//   cuff/1 amend          J S N T late-output|client|edit LINE    a line in a file beside the
//                                                 entries; N is 0 where it belongs to no entry
//   cuff/1 capture        R T UNTIL bytes closed|open META OUTPUT INDEX EVENTS TRACE FINAL
//   cuff/1 pin            R T                     the sweep keeps the capture, until
//   cuff/1 unpin          R T
//   cuff/1 tombstone      J S T retention|user count first last why   a session that was deleted;
//                                                 S is - for a journal
//   cuff/1 redact         J S N T parts why       N is 0 for a line of edits
//   cuff/1 redact-capture R T ranges why          those bytes of output.bin were overwritten, or
//                                                 none (`-`): words in its other files were
//   cuff/1 fork           J T from why            a copy of the journal `from`, named anew
//   cuff/1 gap            J T why                 entries between here and the leaf before are lost
//   cuff/1 policy         J T sha256 mode         the rules in force
//   cuff/1 config         J T sha256              the settings in force
//   cuff/1 key            vkey                    signs checkpoints from here on, too
//   cuff/1 anchor         kind size where         the root of the first `size` leaves is there
import {
  COMMITMENT,
  COUNT,
  ID,
  KEY,
  oneOf,
  orNothing,
  PARTS,
  RANGES,
  SHA256,
  TEXT,
  TIME,
  type Token,
  WORD,
} from './tokens.ts';

const HEAD = 'cuff/1';

/** With the `\n`; the entry bundles of tlog-tiles have two bytes for a length. */
export const LEAF_BYTES_MAX = 65_535;

const PART = orNothing(COMMITMENT);
const WHY = orNothing(TEXT);
const OF_SESSION = { journal: ID, session: ID };
const OF_ENTRY = { ...OF_SESSION, sequence: COUNT, at: TIME };

/** By kind, in the order of the tokens. */
const LAYOUTS = {
  open: { ...OF_SESSION, at: TIME, agent: WHY },
  close: { ...OF_SESSION, at: TIME, status: WORD, count: COUNT },
  entry: {
    ...OF_ENTRY,
    origin: oneOf('live', 'late', 'spool', 'import'),
    facts: COMMITMENT,
    text: PART,
    stdout: PART,
    stderr: PART,
    run: orNothing(ID),
  },
  amend: { ...OF_ENTRY, amends: oneOf('late-output', 'client', 'edit'), line: COMMITMENT },
  capture: {
    run: ID,
    at: TIME,
    until: TIME,
    bytes: COUNT,
    output_end: oneOf('closed', 'open'),
    meta: PART,
    output: PART,
    index: PART,
    events: PART,
    trace: PART,
    final: PART,
  },
  pin: { run: ID, at: TIME },
  unpin: { run: ID, at: TIME },
  tombstone: {
    journal: ID,
    session: orNothing(ID),
    at: TIME,
    by: oneOf('retention', 'user'),
    count: COUNT,
    first: orNothing(COUNT),
    last: orNothing(COUNT),
    why: WHY,
  },
  redact: { ...OF_ENTRY, parts: PARTS, why: WHY },
  'redact-capture': { run: ID, at: TIME, ranges: orNothing(RANGES), why: WHY },
  fork: { journal: ID, at: TIME, from: ID, why: WHY },
  gap: { journal: orNothing(ID), at: TIME, why: WHY },
  policy: { journal: ID, at: TIME, sha256: SHA256, mode: WORD },
  config: { journal: ID, at: TIME, sha256: SHA256 },
  key: { vkey: KEY },
  anchor: { anchor: WORD, size: COUNT, where: WHY },
} as const;

type Layouts = typeof LAYOUTS;
export type LeafKind = keyof Layouts;
type ValueOf<T> = T extends Token<infer Value> ? Value : never;

/** What the leaf of one kind says. */
export type LeafOf<Kind extends LeafKind> = { readonly kind: Kind } & {
  readonly [Field in keyof Layouts[Kind]]: ValueOf<Layouts[Kind][Field]>;
};

export type Leaf = { readonly [Kind in LeafKind]: LeafOf<Kind> }[LeafKind];

export const LEAF_KINDS = Object.keys(LAYOUTS) as readonly LeafKind[];

/** With its `\n`. Throws a RangeError for what no leaf can say. */
export function formatLeaf(leaf: Leaf): string {
  const values = leaf as unknown as Readonly<Record<string, unknown>>;
  const tokens = fieldsOf(leaf.kind).map(([field, token]) => {
    const text = token.format(values[field]);
    if (text === undefined) throw new RangeError(`a leaf ${leaf.kind} with no ${field}`);
    return text;
  });
  // Only the last token of an entry may be missing instead of being nothing.
  if (leaf.kind === 'entry' && leaf.run === null) tokens.pop();
  const line = `${HEAD} ${leaf.kind} ${tokens.join(' ')}\n`;
  if (Buffer.byteLength(line) > LEAF_BYTES_MAX) throw new RangeError('a leaf that is too long');
  return line;
}

/** `line` with its `\n`; undefined for anything that `formatLeaf` would not write. */
export function parseLeaf(line: string): Leaf | undefined {
  if (!line.endsWith('\n') || line.length > LEAF_BYTES_MAX) return undefined;
  const [head, kind, ...tokens] = line.slice(0, -1).split(' ');
  const known = LEAF_KINDS.find((one) => one === kind);
  if (head !== HEAD || known === undefined) return undefined;
  const fields = fieldsOf(known);
  if (known === 'entry') {
    if (tokens.length === fields.length - 1) tokens.push('-');
    else if (tokens.at(-1) === '-') return undefined; // a second text for the same leaf
  }
  if (tokens.length !== fields.length) return undefined;
  const leaf: Record<string, unknown> = { kind: known };
  for (const [at, [field, token]] of fields.entries()) {
    const value = token.parse(tokens[at] ?? '');
    if (value === undefined) return undefined;
    leaf[field] = value;
  }
  return leaf as unknown as Leaf;
}

function fieldsOf(kind: LeafKind): [string, Token<unknown>][] {
  return Object.entries(LAYOUTS[kind]) as [string, Token<unknown>][];
}
