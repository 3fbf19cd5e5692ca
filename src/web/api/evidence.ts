// Evidence: what a verification found, and what is sealed.

/** Where an anchor is. */
export type Anchor = {
  readonly at: string | null;
  readonly kind: string;
  readonly where: string;
  readonly size: number;
};

export type Finding = {
  readonly wrong: boolean;
  readonly verdict: string;
  readonly journal?: string;
  readonly session?: string;
  readonly sequence?: number;
  readonly run?: string;
  readonly part?: string;
  readonly leaf?: number;
  readonly at?: string;
  readonly count?: number;
  readonly detail?: string;
};

/** As `verify --json`, and `words` as `verify` prints them: the first is the sentence. */
export type VerifyAnswer = {
  readonly intact: boolean;
  readonly origin: string | null;
  readonly ledger: {
    readonly size: number;
    readonly signed: number;
    readonly checkpoint_size: number | null;
  };
  readonly anchor: Anchor | null;
  readonly noted_anchor: Anchor | null;
  readonly outside: readonly {
    readonly kind: string;
    readonly where: string;
    readonly compared: number | null;
    readonly trouble: string | null;
  }[];
  readonly counts: {
    readonly entries: number;
    readonly anchored: number;
    readonly unsigned: number;
    readonly unsealed: number;
    readonly sessions: number;
    readonly captures: number;
  };
  readonly deep: boolean;
  readonly findings: readonly Finding[];
  readonly words: readonly string[];
  readonly verified_at: string;
};

/** Null where nothing is sealed. */
export type SealHead = {
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  /** To print, or to read aloud: `CUFF 20852 7KQ2-...`. */
  readonly code: string;
};

export type SealAnswer = {
  readonly head: SealHead | null;
  /** The public key. */
  readonly vkey: string | null;
  readonly anchors: Readonly<Record<string, unknown>> | null;
};

export type SealedAnswer = SealHead & {
  readonly anchors: readonly {
    readonly kind: string;
    readonly where?: string;
    readonly size: number;
    readonly trouble: string | null;
  }[];
  readonly notices: readonly string[];
};
