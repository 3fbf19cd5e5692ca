// What a page asks the server for, as a hook: what came last stays while the next is on its way, so
// that nothing flickers. A server that was gone and is back is asked again.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, revival } from './client.ts';

export type Asked<T> = {
  readonly data: T | undefined;
  readonly error: Refusal | undefined;
  readonly busy: boolean;
  readonly again: () => void;
};

type State<T> = { readonly key: string; readonly data?: T; readonly error?: Refusal };

/** `key` names what is asked for: another key is another question. */
export function useAnswer<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Asked<T> {
  const [state, setState] = useState<State<T>>({ key: '' });
  const [count, setCount] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const revived = revival.value;
  useEffect(() => {
    const control = new AbortController();
    latest
      .current(control.signal)
      .then((data) => {
        if (!control.signal.aborted) setState({ key, data });
      })
      .catch((error) => {
        if (!control.signal.aborted && error instanceof Refusal) setState({ key, error });
      });
    return () => control.abort();
  }, [key, count, revived]);
  return {
    data: state.data,
    error: state.error,
    busy: state.key !== key,
    again: () => setCount((before) => before + 1),
  };
}
