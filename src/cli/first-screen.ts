// `cuff` alone: what is recorded here, and the next step.

import packageJson from '../../package.json' with { type: 'json' };
import { messageOf } from '../errors.ts';
import type { Status } from '../ops/status.ts';
import { counted } from '../text/plural.ts';
import { printable } from '../text/printable.ts';
import { table } from '../text/table.ts';
import { put } from './output.ts';

type Step = readonly [command: string, what: string];

const FIRST: readonly Step[] = [
  ['cuff record review --from all', 'what agents did, from their own history; writes nothing'],
  ['cuff init --all', 'record the agents that are installed, from now on'],
];

const GO_ON: readonly Step[] = [
  ['cuff record list', 'the sessions that are recorded here'],
  ['cuff record review', 'what in them deserves a look'],
  ['cuff record generate', 'a draft of a policy that allows what they did'],
];

const ALWAYS: readonly Step[] = [
  ['cuff run -- COMMAND', 'run a command of yours, and keep what it prints'],
  ['cuff ui', 'see all of it in a browser'],
  ['cuff help', 'all commands'],
];

/** Exit 0: to look is no wrong call. */
export async function firstScreen(): Promise<void> {
  const { lines, steps } = await here();
  const next = table(
    [{ title: 'NEXT' }, { title: '' }],
    [...steps, ...ALWAYS].map(([...row]) => row),
  );
  await put(`cuff ${packageJson.version}: a shell that remembers.\n${lines.join('\n')}\n\n${next}`);
}

async function here(): Promise<{
  readonly lines: readonly string[];
  readonly steps: readonly Step[];
}> {
  try {
    const { statusHere } = await import('./status.ts');
    const { journals, runs, servers } = await statusHere();
    const recorded = journals.filter(({ entries }) => entries > 0);
    return {
      lines: [...recordedLines(recorded), ...liveLines(runs.length, servers.length)],
      steps: recorded.length === 0 ? FIRST : GO_ON,
    };
  } catch (error) {
    // Settings that are wrong, or a disk that cannot be read: both are for the doctor.
    const steps: readonly Step[] = [['cuff doctor', 'what is wrong, and what to do'], ...FIRST];
    return { lines: [printable(messageOf(error))], steps };
  }
}

function recordedLines(journals: Status['journals']): readonly string[] {
  if (journals.length === 0) return ['Nothing is recorded here yet.'];
  return journals.map(({ directory, entries, sessions }) => {
    const what = `${counted(entries, 'command')} of ${counted(sessions, 'session')}`;
    return `Recorded: ${what}, in ${printable(directory)}`;
  });
}

function liveLines(runs: number, servers: number): readonly string[] {
  if (runs + servers === 0) return [];
  return [`Live: ${counted(runs, 'run')}, ${counted(servers, 'server')} (cuff ps, cuff status)`];
}
