// Knows when this worker starts a process or loads the module for terminals, whichever function of
// `node:child_process` does it.
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

type Way = (...args: never[]) => unknown;

/** Where every start comes along: the asynchronous functions all end in the first of these. */
const WAYS: readonly (readonly [object, string])[] = [
  [childProcess.ChildProcess.prototype, 'spawn'],
  [childProcess, 'execFileSync'],
  [childProcess, 'execSync'],
  [childProcess, 'spawnSync'],
  [process, 'dlopen'],
];

let onStart: (how: string) => void = () => {};
let watching = false;

/** `started` is called before each start, and may throw to prevent it. */
export function watchProcesses(started: (how: string) => void): void {
  onStart = started;
  if (watching) return; // Files of the pure lane share a worker.
  watching = true;
  for (const [owner, name] of WAYS) {
    const ways = owner as Record<string, Way>;
    const real = ways[name];
    if (real === undefined) throw new Error(`node:child_process has no ${name} any more`);
    ways[name] = function (this: unknown, ...args: never[]) {
      if (name !== 'dlopen') onStart(name);
      else if (/\bpty\.node$/.test(args[1] ?? '')) onStart('node-pty');
      return Reflect.apply(real, this, args);
    };
  }
  syncBuiltinESMExports();
}
