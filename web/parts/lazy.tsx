// A page whose code is fetched when it is opened first: what everybody loads stays small.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [Shown, setShown] = useState<ComponentType<P> | undefined>(() => loaded);
    useEffect(() => {
      if (Shown !== undefined) return;
      void load().then((component) => {
        loaded = component;
        setShown(() => component);
      });
    }, [Shown]);
    return Shown === undefined ? <p class="quiet loading">Loading…</p> : <Shown {...props} />;
  };
}
