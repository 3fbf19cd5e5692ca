// The recorded commands, merged: equal commands in equal directories are one, with how often and in
// which sessions they were seen. The order of the evidence makes no difference.

export type Evidence = {
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  readonly sessionId: string;
  readonly exitCode?: number | null;
  /** Absolute: the directory that a policy of its own would be for. */
  readonly project: string;
  /** How often it was run there in that session; 1 where it is missing. */
  readonly count?: number;
  /** It is an agent's own word: nothing of ours saw it run. */
  readonly imported?: boolean;
  /** It was refused there after it was last run. */
  readonly denied?: boolean;
};

/** One command in one directory. */
export type Observation = {
  readonly command: string;
  readonly cwd: string;
  readonly project: string;
  count: number;
  readonly sessions: Set<string>;
  /** All of it is. */
  imported: boolean;
  /** Some of it was. */
  denied: boolean;
};

export function seenOf(evidence: readonly Evidence[]): readonly Observation[] {
  const all = new Map<string, Observation>();
  for (const one of evidence) {
    const { command, cwd, project, sessionId, count = 1 } = one;
    const key = `${project}\0${cwd}\0${command}`;
    let seen = all.get(key);
    if (seen === undefined) {
      seen = {
        command,
        cwd,
        project,
        count: 0,
        sessions: new Set(),
        imported: true,
        denied: false,
      };
      all.set(key, seen);
    }
    seen.count += count;
    seen.sessions.add(sessionId);
    seen.imported &&= one.imported === true;
    seen.denied ||= one.denied === true;
  }
  return [...all].sort(([a], [b]) => compare(a, b)).map(([, seen]) => seen);
}

/** By code unit: the same on every machine, whatever its language. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
