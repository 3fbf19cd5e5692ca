// A list that comes in pages: the first at once, the next when the reader nears the end. What was
// loaded under another question is dropped.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, revival } from './client.ts';

export type Paged<T, A> = {
  readonly items: readonly T[];
  /** The newest answer: totals, facets. */
  readonly answer: A | undefined;
  readonly error: Refusal | undefined;
  readonly done: boolean;
  /** To be called whenever the last shown row is known. */
  readonly near: (index: number) => void;
  readonly change: (how: (items: readonly T[]) => readonly T[]) => void;
};

type Page<T, A> = {
  readonly items: readonly T[];
  readonly cursor: string | null;
  readonly answer: A;
};

type State<T, A> = {
  readonly items: readonly T[];
  readonly cursor: string | null | undefined;
  readonly answer?: A;
  readonly error?: Refusal;
};

const NEAR = 200; // rows ahead of the reader

export function usePages<T, A>(
  key: string,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T, A>>,
): Paged<T, A> {
  const [state, setState] = useState<State<T, A>>({ items: [], cursor: undefined });
  const control = useRef<AbortController>(undefined);
  const busy = useRef(false);
  const latest = useRef(load);
  latest.current = load;
  const revived = revival.value;

  const next = (before: readonly T[], cursor: string | undefined, signal: AbortSignal) => {
    busy.current = true;
    latest
      .current(cursor, signal)
      .then((page) => {
        if (signal.aborted) return;
        busy.current = false;
        const items = [...before, ...page.items];
        setState({ items, cursor: page.cursor, answer: page.answer });
      })
      .catch((error) => {
        if (signal.aborted) return;
        busy.current = false;
        if (error instanceof Refusal) setState({ items: before, cursor: null, error });
      });
  };
  useEffect(() => {
    control.current = new AbortController();
    next([], undefined, control.current.signal);
    return () => control.current?.abort();
  }, [key, revived]);

  const { items, cursor, answer, error } = state;
  return {
    items,
    answer,
    error,
    done: cursor === null,
    near: (index) => {
      if (busy.current || typeof cursor !== 'string' || index < items.length - NEAR) return;
      if (control.current !== undefined) next(items, cursor, control.current.signal);
    },
    change: (how) => setState((before) => ({ ...before, items: how(before.items) })),
  };
}
