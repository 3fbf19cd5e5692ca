import { constants } from 'node:os';

const NUMBERS: Readonly<Record<string, number | undefined>> = constants.signals;

/** What a shell says of a program that died of it: 128 and its number. */
export function signalExitCode(name: string): number {
  return 128 + (NUMBERS[name] ?? 0);
}

/** `TERM`, `SIGTERM` and `15` are the same; undefined for a name that no signal has here. */
export function signalNamed(name: string): NodeJS.Signals | undefined {
  const known = Object.entries(constants.signals);
  const wanted = name.startsWith('SIG') ? name : `SIG${name}`;
  const found = known.find(([one, number]) => one === wanted || String(number) === name);
  return found?.[0] as NodeJS.Signals | undefined;
}
