// What a verification finds. Every verdict is either a wrong (`WRONGS`): no crash leaves that, and
// it makes `cuff verify` exit 1; or a fact that a reader should know, which crashes, deletions and
// other users of cuff lead to.

const WRONGS = [
  'checkpoint_bad', // no signature of the ledger's key, or another's
  'epoch_broken', // no way from the key of an older day to the one that signed
  'ledger_edited', // leaves are not those that were signed
  'ledger_truncated', // leaves that were signed are gone
  'history_rewritten', // what was anchored is not in the ledger
  'rolled_back', // the signed ledger is older than its anchor
  'edited', // a part of an entry is not what was sealed
  'unreadable_line', // no entry, and one is missing
  'missing_entry',
  'reordered',
  'inserted', // an entry that was not sealed, where it should have been
  'foreign_entry', // sealed in another session
  'entry_twice',
  'missing_session',
  'unknown_session', // not sealed, and says that it was
  'late_unexplained', // sealed after its time, and nothing vouched for it
  'deleted_early', // retention does not explain it
  'capture_edited',
] as const;

const FACTS = [
  'unsigned', // leaves that no checkpoint covers yet
  'unsealed', // an entry or a session without a leaf
  'recovered', // sealed late, after a crash
  'spooled', // recorded in a sandbox, sealed later
  'deleted',
  'redacted',
  'gap',
  'fork', // the journal is a copy
  'anchor_missing', // noted, and not at its place
  'sealed_elsewhere',
  'journal_gone',
  'expired', // a capture whose time is over
  'encrypted', // a capture, or entries, that this machine cannot decrypt
] as const;

type Wrong = (typeof WRONGS)[number];
export type Verdict = Wrong | (typeof FACTS)[number];

export type Finding = {
  readonly verdict: Verdict;
  readonly journal?: string;
  readonly session?: string;
  readonly sequence?: number;
  readonly run?: string;
  /** Which part was edited: of an entry, of a capture, `salt`, `form`, or a line beside entries. */
  readonly part?: string;
  /** The number of the leaf, from 0. */
  readonly leaf?: number;
  /** Epoch milliseconds. */
  readonly at?: number;
  readonly count?: number;
  /** A path, an origin, a reason: as a leaf, a file or an anchor says it. */
  readonly detail?: string;
};

export function isWrong({ verdict }: Finding): boolean {
  return (WRONGS as readonly Verdict[]).includes(verdict);
}

/** Which session or entry a finding is about. */
export type Place = { readonly journal: string; readonly session: string };
