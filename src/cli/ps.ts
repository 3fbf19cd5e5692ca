// `cuff ps`: every live run with its processes as a tree.

import { callOf, commandText, liveRunJson } from '../shell/capture-json.ts';
import { storeOf } from '../shell/captures.ts';
import { type LiveRun, liveRuns, type RunProcess } from '../shell/processes.ts';
import type { Column } from '../text/table.ts';
import { paint, put, putJson, say, shortAge } from './output.ts';
import { shownTable, stateText } from './show.ts';

type PsOptions = {
  readonly json?: boolean;
  /** Only runs that an agent started in this session of its own. */
  readonly session?: string;
};

/**
 * `--json`: {"runs":[...]}, each as in `cuff ls`, with runner_pid, runner_alive and processes; for
 * a run of an agent also agent, agent_session and tool_call.
 */
export async function ps({ json, session }: PsOptions): Promise<void> {
  const all = liveRuns(storeOf(process.env));
  const runs = all.filter((run) => session === undefined || callOf(run)?.agent_session === session);
  if (json) {
    await putJson({ runs: runs.map(liveRunJson) });
    return;
  }
  if (runs.length === 0) {
    say('No live runs.');
    return;
  }
  const rows = runs.flatMap((run) => [runRow(run), ...processRows(run.processes)]);
  const heads = new Set(runs.map(({ capture }) => capture.id));
  const bold = (text: string, row: number): string =>
    heads.has(rows[row]?.[0] ?? '') ? paint('bold', text) : text;
  const columns: readonly Column[] = [
    { title: 'RUN / PID', style: bold },
    { title: 'STATE' },
    { title: 'AGE', align: 'right' },
    { title: 'OUTPUT' },
    { title: 'COMMAND', style: bold },
  ];
  await put(shownTable(columns, rows));
  if (runs.some((run) => !run.runnerAlive && run.capture.state !== 'starting')) {
    say('A run without a runner is not captured any more; `cuff kill ID` ends its processes.');
  }
}

function runRow({ capture, runnerAlive }: LiveRun): string[] {
  const lost = !runnerAlive && capture.state !== 'starting';
  const state = lost ? 'runner killed' : stateText(capture);
  return [capture.id, state, shortAge(Date.now() - capture.createdAt), '', commandText(capture)];
}

function processRows(processes: readonly RunProcess[]): string[][] {
  return processes.map((one, i) => [
    `${branch(processes, i)}${one.pid}`,
    '',
    one.ageMs === undefined ? '' : shortAge(one.ageMs),
    one.holdsOutput ? 'holds' : '',
    one.command,
  ]);
}

/** The lines of the tree in front of a process. */
function branch(processes: readonly RunProcess[], i: number): string {
  const depth = processes[i]?.depth ?? 0;
  let text = hasNext(processes, i, depth) ? '├─ ' : '└─ ';
  for (let level = depth - 1; level >= 0; level -= 1) {
    text = (hasNext(processes, i, level) ? '│  ' : '   ') + text;
  }
  return text;
}

/** Whether a process of this level follows before the tree goes back below it. */
function hasNext(processes: readonly RunProcess[], i: number, level: number): boolean {
  const next = processes.slice(i + 1).find((one) => one.depth <= level);
  return next?.depth === level;
}
