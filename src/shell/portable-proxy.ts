// `cuff run` without the native runner: the same orders, given to the portable backend.

import { portableBackend, portablePty } from '../run/portable.ts';
import type { Listener, RunSpec } from '../run/spec.ts';
import { portableSink } from './portable.ts';

export { portablePty };

export function startPortable(spec: RunSpec, listener: Listener): (order: string) => void {
  const handle = portableBackend({ openSink: portableSink }).start(spec, listener);
  return (order) => {
    const [word, value = ''] = order.split(' ');
    if (word === 'signal') handle.signal(value);
    if (word === 'cont') handle.signal('SIGCONT');
    if (word === 'resize') handle.resize(process.stdout.columns ?? 80, process.stdout.rows ?? 24);
  };
}
