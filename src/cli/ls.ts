// `cuff ls`: captures, newest first.

import { openLog } from '../log.ts';
import { captureJson, commandText } from '../shell/capture-json.ts';
import { type Listing, listing, storeOf } from '../shell/captures.ts';
import { bringHome } from '../shell/spool.ts';
import { uncapturedJson, uncapturedRuns } from '../shell/uncaptured.ts';
import type { Column } from '../text/table.ts';
import type { CaptureState } from '../types.ts';
import { paint, put, putJson, say, shortAge } from './output.ts';
import { exitText, shownTable, sizeText, stateText } from './show.ts';
import { uncapturedWords } from './uncaptured.ts';

type Options = {
  readonly state?: CaptureState;
  readonly limit: number;
  readonly json?: boolean;
};

/**
 * `--json`: {"sessions":[...],"more":N}; see `captureJson` for one of them. Where runs of the last
 * 24 hours have no capture, "uncaptured":[...] names them.
 */
export async function ls({ state, limit, json }: Options): Promise<void> {
  const store = storeOf(process.env);
  await bringHome(store, { cwd: process.cwd(), env: process.env, log: openLog(store.root) });
  const uncaptured = uncapturedRuns(store.root);
  // First, because the state root that took no capture may not be listed either.
  if (!json) for (const words of uncapturedWords(uncaptured)) say(words);
  const { captures, more } = listing(store, { limit, ...(state === undefined ? {} : { state }) });
  if (json) {
    const sessions = captures.map(captureJson);
    await putJson({ sessions, more, ...uncapturedJson(uncaptured) });
    return;
  }
  await show(captures, more, state);
}

async function show(
  captures: Listing['captures'],
  more: number,
  state: CaptureState | undefined,
): Promise<void> {
  if (captures.length === 0) {
    say(`No captures${state === undefined ? '' : ` in state ${state}`}. Make one: cuff run -- CMD`);
    return;
  }
  const now = Date.now();
  const rows = captures.map((one) => [
    one.id,
    stateText(one),
    exitText(one),
    shortAge(now - one.createdAt),
    sizeText(one),
    commandText(one),
  ]);
  const states = captures.map((one) => one.state);
  await put(shownTable(columns(states), rows));
  const filter = state === undefined ? '' : ` --state ${state}`;
  if (more > 0) say(`${more} more: cuff ls${filter} --limit ${captures.length + more}`);
}

const COLOURS: Partial<Record<CaptureState, 'green' | 'red' | 'yellow'>> = {
  running: 'green',
  starting: 'green',
  failed: 'red',
  signaled: 'yellow',
};

function columns(states: readonly CaptureState[]): readonly Column[] {
  const style = (text: string, row: number): string => {
    const colour = COLOURS[states[row] ?? 'exited'];
    return colour === undefined ? text : paint(colour, text);
  };
  return [
    { title: 'ID' },
    { title: 'STATE', style },
    { title: 'EXIT' },
    { title: 'AGE', align: 'right' },
    { title: 'SIZE', align: 'right' },
    { title: 'COMMAND' },
  ];
}
