import { constants } from 'node:os';

/** `TERM`, `SIGTERM` and `15` are the same; undefined for a name that no signal has here. */
export function signalNamed(name: string): NodeJS.Signals | undefined {
  const known = Object.entries(constants.signals);
  const wanted = name.startsWith('SIG') ? name : `SIG${name}`;
  const found = known.find(([one, number]) => one === wanted || String(number) === name);
  return found?.[0] as NodeJS.Signals | undefined;
}
