// Where the root of the ledger goes, as a person writes it, in settings and behind `cuff seal
// anchor`: a kind, a space, and where.
//
//   journal                 the system's log, by `logger -t cuff-seal ORIGIN SIZE ROOT`
//   file PATH               a line of a file: on another mount, append-only, of another user
//   git REPOSITORY          a commit on the branch cuff-seal, pushed there
//   witness URL VKEY        a C2SP witness
//   print                   a code for paper; only by a person
//   trailer                 a line in the commits of agents, if their dialect names a co-author

import { isAbsolute } from 'node:path';
import { parseVerifierKey } from '../../ledger/note-keys.ts';

const ANCHOR_KINDS = ['journal', 'file', 'git', 'witness', 'print', 'trailer'] as const;
export type AnchorKind = (typeof ANCHOR_KINDS)[number];

export type AnchorTarget = {
  readonly kind: AnchorKind;
  /** Empty where the kind says all. */
  readonly where: string;
};

export type TargetReading =
  | { readonly target: AnchorTarget }
  /** One clause: what is wrong. */
  | { readonly problem: string };

const WHERE_MAX = 4_096;
const PASSWORD = /^[a-z]+:\/\/[^/]*:[^/]*@/i;

export function readTarget(text: string): TargetReading {
  const [word = '', ...rest] = text.trim().split(/ +/);
  const where = rest.join(' ');
  const kind = ANCHOR_KINDS.find((one) => one === word);
  if (kind === undefined) return { problem: `expected one of ${ANCHOR_KINDS.join(', ')}` };
  if (/[\0-\x1f\x7f]/.test(where) || where.length > WHERE_MAX) {
    return { problem: `${kind}: a place of up to ${WHERE_MAX} printable characters` };
  }
  // It stands in the ledger for good, and in what is printed.
  if (PASSWORD.test(where)) return { problem: `${kind} takes an address without a password` };
  const problem = PROBLEMS[kind](where);
  return problem === undefined ? { target: { kind, where } } : { problem };
}

const nowhere =
  (kind: AnchorKind) =>
  (where: string): string | undefined =>
    where === '' ? undefined : `${kind} takes no place`;

const PROBLEMS: Readonly<Record<AnchorKind, (where: string) => string | undefined>> = {
  journal: nowhere('journal'),
  print: nowhere('print'),
  trailer: nowhere('trailer'),
  file: (where) => (isAbsolute(where) ? undefined : 'file takes an absolute path'),
  git: (where) =>
    isAbsolute(where) || REMOTE.test(where)
      ? undefined
      : 'git takes an absolute path, USER@HOST:PATH, or an https or ssh address',
  witness: (where) => (witnessOf(where) === undefined ? WITNESS : undefined),
};

const REMOTE = /^(?:(?:https?|ssh|file):\/\/[^-\s]|[A-Za-z0-9._]+@[A-Za-z0-9.]+:[^-\s])/;
const WITNESS = 'witness takes an http address and the key of the witness, NAME+ID+BASE64';

/** The address, ending in `/`, and the key. */
export function witnessOf(where: string) {
  const [address = '', vkey = '', ...more] = where.split(' ');
  const key = parseVerifierKey(vkey);
  if (key?.algorithm !== 'cosignature' || more.length > 0) return undefined;
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) return undefined;
  return { address: address.endsWith('/') ? address : `${address}/`, key };
}
