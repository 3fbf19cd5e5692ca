// A policy file (C2SP tlog-policy): which logs and witnesses a verifier trusts, and how many of the
// witnesses must have cosigned a checkpoint. Line by line:
//
//   log VKEY [URL]     witness NAME VKEY [URL]     group NAME all|any|K MEMBER...     quorum NAME
import type { Note } from './note.ts';
import { parseVerifierKey, type VerifierKey } from './note-keys.ts';
import { cosignedAt } from './witness.ts';

type Group = { readonly least: number; readonly members: readonly string[] };

export type LogPolicy = {
  readonly logs: readonly VerifierKey[];
  readonly witnesses: ReadonlyMap<string, VerifierKey>;
  readonly groups: ReadonlyMap<string, Group>;
  /** A witness, a group, or `none`. */
  readonly quorum: string;
};

export type LogPolicyReading =
  | { readonly kind: 'policy'; readonly policy: LogPolicy }
  | { readonly kind: 'refused'; readonly line: number; readonly reason: string };

const NONE = 'none';

export function parseLogPolicy(text: string): LogPolicyReading {
  const reader = new PolicyReader();
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    const reason = reader.read(line);
    if (reason !== undefined) return { kind: 'refused', line: at + 1, reason };
  }
  const { logs, witnesses, groups, quorum } = reader;
  if (quorum === undefined) {
    return { kind: 'refused', line: lines.length, reason: 'there is no quorum line' };
  }
  return { kind: 'policy', policy: { logs, witnesses, groups, quorum } };
}

class PolicyReader {
  readonly logs: VerifierKey[] = [];
  readonly witnesses = new Map<string, VerifierKey>();
  readonly groups = new Map<string, Group>();
  quorum: string | undefined;
  readonly #members = new Set<string>();

  /** What is wrong with the line, if anything. */
  read(line: string): string | undefined {
    if (/[\0-\x08\x0b-\x1f\x7f]/.test(line)) return 'a control character';
    const [keyword, ...words] = line.split(/[ \t]+/).filter((word) => word !== '');
    if (keyword === undefined || keyword.startsWith('#')) return undefined;
    if (keyword === 'log') return this.#log(words);
    if (keyword === 'witness') return this.#witness(words);
    if (keyword === 'group') return this.#group(words);
    if (keyword === 'quorum') return this.#quorum(words);
    return `'${keyword}' is none of log, witness, group and quorum`;
  }

  #log([text = '', ...url]: readonly string[]): string | undefined {
    const key = parseVerifierKey(text);
    if (url.length > 1) return 'more than a key and an address';
    if (key?.algorithm !== 'ed25519') return 'no key of a log that we know to verify';
    if (holds(this.logs, key)) return 'the same log twice';
    this.logs.push(key);
    return undefined;
  }

  #witness([name = '', text = '', ...url]: readonly string[]): string | undefined {
    const key = parseVerifierKey(text);
    if (url.length > 1) return 'more than a name, a key and an address';
    if (this.#taken(name)) return `'${name}' is taken`;
    if (key?.algorithm !== 'cosignature') return 'no key of a witness that we know to verify';
    if (holds([...this.witnesses.values()], key)) return 'the same witness twice';
    this.witnesses.set(name, key);
    return undefined;
  }

  #group([name = '', count = '', ...members]: readonly string[]): string | undefined {
    if (name === '' || this.#taken(name)) return `'${name}' is taken`;
    if (members.length === 0) return 'a group without members';
    const least = count === 'all' ? members.length : count === 'any' ? 1 : Number(count);
    const whole = /^(all|any|[1-9]\d{0,8})$/.test(count) && least <= members.length;
    if (!whole) return `'${count}' is none of all, any and 1 to ${members.length}`;
    for (const member of members) {
      if (!this.#defined(member)) return `'${member}' is not defined above`;
      if (this.#members.has(member)) return `'${member}' is a member already`;
      this.#members.add(member);
    }
    this.groups.set(name, { least, members });
    return undefined;
  }

  #quorum([name = '', ...more]: readonly string[]): string | undefined {
    if (this.quorum !== undefined) return 'a second quorum line';
    if (more.length > 0) return 'more than one name';
    if (name !== NONE && !this.#defined(name)) return `'${name}' is not defined above`;
    this.quorum = name;
    return undefined;
  }

  #taken(name: string): boolean {
    return name === NONE || this.#defined(name);
  }

  #defined(name: string): boolean {
    return this.witnesses.has(name) || this.groups.has(name);
  }
}

function holds(keys: readonly VerifierKey[], key: VerifierKey): boolean {
  return keys.some(({ raw }) => Buffer.compare(raw, key.raw) === 0);
}

/** The names of the witnesses that cosigned the note, and whether the policy is content. */
export function quorumOf(
  policy: LogPolicy,
  note: Note,
): { readonly met: boolean; readonly cosigned: readonly string[] } {
  const cosigned = [...policy.witnesses]
    .filter(([, key]) => cosignedAt(note, key) !== undefined)
    .map(([name]) => name);
  const seen = new Set(cosigned);
  // A group names only what stands above it, so that this ends.
  for (const [name, { least, members }] of policy.groups) {
    if (members.filter((member) => seen.has(member)).length >= least) seen.add(name);
  }
  return { met: policy.quorum === NONE || seen.has(policy.quorum), cosigned };
}
