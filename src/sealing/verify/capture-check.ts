// Captures that were sealed: is each still there, or is its time over? With their files, are those
// what was sealed?
import { CAPTURE_PARTS, commitmentTo, partSalt } from '../../ledger/commitments.ts';
import type { Finding } from './findings.ts';
import type { LeafIndex, SealedCapture } from './leaf-index.ts';

type CapturePart = (typeof CAPTURE_PARTS)[number];

export type CaptureFiles = {
  /** Of final.json. */
  readonly salt: Uint8Array | undefined;
  /** SHA-256 of the files; undefined where there is none. */
  readonly digest: (part: CapturePart) => Uint8Array | undefined | 'locked';
};

export type CaptureContext = {
  readonly sealed: LeafIndex;
  readonly now: number;
  /** Undefined where it is not there. */
  readonly capture: (run: string) => CaptureFiles | undefined;
  /** Its files are hashed. */
  readonly deep: boolean;
};

export type CaptureCheck = {
  /** How many are there. */
  readonly present: number;
  readonly findings: readonly Finding[];
};

export function checkCaptures(context: CaptureContext, runs?: ReadonlySet<string>): CaptureCheck {
  const { sealed, capture, deep } = context;
  const findings: Finding[] = sealed.redactedCaptures
    .filter(({ run }) => runs?.has(run) ?? true)
    .map(({ run, at, ranges, why }) => {
      const bytes = ranges?.map(([from, to]) => `${from}-${to}`).join(', ');
      const part = bytes === undefined ? 'its words' : `bytes ${bytes}`;
      return { verdict: 'redacted', run, at, part, detail: why ?? '-' };
    });
  let present = 0;
  for (const [run, one] of sealed.captures) {
    if (runs?.has(run) === false) continue;
    const files = capture(run);
    if (files === undefined) findings.push(goneFinding(one, context));
    else {
      present += 1;
      // A redaction that was cut off: the next one gives it a new leaf.
      const unfinished = (sealed.redactedAt.get(run) ?? -1) > one.index;
      if (deep && !unfinished) findings.push(...editedParts(one, files));
    }
  }
  return { present, findings };
}

/** The sweep needs no leaf: a capture says itself how long it is kept. */
function goneFinding({ leaf, index }: SealedCapture, { sealed, now }: CaptureContext): Finding {
  const { run, until } = leaf;
  const early = sealed.pinned.has(run) || now < until;
  return { verdict: early ? 'deleted_early' : 'expired', run, at: until, leaf: index };
}

function editedParts({ leaf, index }: SealedCapture, files: CaptureFiles): Finding[] {
  const { run, at } = leaf;
  const { salt, digest } = files;
  const about = { verdict: 'capture_edited', run, at, leaf: index } as const;
  if (salt === undefined) return [{ ...about, part: 'salt' }];
  const digests = CAPTURE_PARTS.map((part) => digest(part));
  const locked = digests.includes('locked');
  const edited = CAPTURE_PARTS.flatMap((part, place): Finding[] => {
    const bytes = digests[place];
    if (bytes === 'locked') return [];
    const found = bytes === undefined ? null : commitmentTo(bytes, partSalt(salt, place));
    return found === leaf[part] ? [] : [{ ...about, part }];
  });
  return locked ? [...edited, { ...about, verdict: 'encrypted' }] : edited;
}
