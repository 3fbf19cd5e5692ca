// `GET /api/activity`: what the agents did, as numbers for small plots: commands over time by how
// they ended, by hour of the week, which took longest and which failed, and how much was printed.

import { statSync } from 'node:fs';
import { captureDir, sessionIdTime } from '../../capture/paths.ts';
import { captureIds, readState } from '../../capture/store.ts';
import { isAppError } from '../../errors.ts';
import { findSessionFiles } from '../../journal/files.ts';
import { journalSessionIds } from '../../journal/reader.ts';
import { sessionEntries } from '../../recordings/sessions.ts';
import type { Store } from '../../shell/captures.ts';
import { normalForm } from '../../text/command-shape.ts';
import { DAY_MS, dateText, HOUR_MS, isoTime } from '../../text/dates.ts';
import type { ActivityAnswer, BlockOutcome } from '../api.ts';
import { Fault } from '../fault.ts';
import { journalsFor } from '../journals.ts';
import { noOutcomes, outcomeOf } from '../outcome.ts';
import { counted } from '../sessions.ts';
import type { Ground, Question, Request } from './ground.ts';

const HOURLY_MS_MAX = 3 * DAY_MS; // a longer time has a bucket for each day
const TOP_MAX = 20;
const SINCE_DAYS = 7;
const ZONE_MINUTES_MAX = 14 * 60;
const MINUTE_MS = 60_000;

export const activity: Question = { params: ['since', 'until', 'project', 'zone'], answer };

/** What of a command is counted. */
type Deed = {
  readonly at: number;
  readonly durationMs: number;
  readonly form: string;
  readonly outcome: BlockOutcome;
  readonly agent: string;
};

function answer({ journals, store }: Ground, { params }: Request): ActivityAnswer {
  const until = params.time('until') ?? store.now();
  const since = params.time('since') ?? until - SINCE_DAYS * DAY_MS;
  const zoneMs = zoneOf(params.text('zone')) * MINUTE_MS;
  const project = params.text('project');
  const directories = journalsFor(journals, project).map(({ directory }) => directory);
  const deeds = directories.flatMap((one) => deedsIn(one, since, until));
  const bucketMs = until - since <= HOURLY_MS_MAX ? HOUR_MS : DAY_MS;
  const outcomes = noOutcomes();
  for (const { outcome } of deeds) outcomes[outcome] += 1;
  const forms = formsOf(deeds);
  return {
    since: isoTime(since),
    until: isoTime(until),
    commands: deeds.length,
    outcomes,
    bucket_minutes: bucketMs / MINUTE_MS,
    timeline: timelineOf(deeds, bucketMs, zoneMs),
    heat: heatOf(deeds, zoneMs),
    top: forms.toSorted((a, b) => b.duration_ms - a.duration_ms).slice(0, TOP_MAX),
    failing: forms
      .filter(({ failed }) => failed > 0)
      .sort((a, b) => b.failed - a.failed || b.count - a.count)
      .slice(0, TOP_MAX),
    output: outputByDay(store, { since, until, zoneMs, journals: project && directories }),
    agents: counted(deeds.map(({ agent }) => agent)),
  };
}

/** Minutes east of UTC, which may be negative. */
function zoneOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const minutes = /^-?\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(minutes) <= ZONE_MINUTES_MAX) return minutes;
  throw new Fault(400, "'zone' is a number of minutes east of UTC.");
}

/** Sessions that were not written since are not read; others are read again when they change. */
function deedsIn(directory: string, since: number, until: number): Deed[] {
  return journalSessionIds(directory).flatMap((id) => {
    const path = findSessionFiles(directory, id)?.entries;
    const stat = path && statSync(path, { throwIfNoEntry: false });
    if (!stat || stat.mtimeMs < since) return [];
    const print = `${stat.size} ${stat.mtimeMs}`;
    const key = `${directory}\0${id}`;
    const known = kept.get(key);
    const deeds = known?.print === print ? known.deeds : deedsOf(directory, id);
    kept.set(key, { print, deeds });
    return deeds.filter(({ at }) => at >= since && at < until);
  });
}

/** Of this thread, which ends when it was not asked for a while. */
const kept = new Map<string, { readonly print: string; readonly deeds: readonly Deed[] }>();

function deedsOf(directory: string, id: string): readonly Deed[] {
  return Array.from(sessionEntries(directory, id), (entry) => ({
    at: Date.parse(entry.timestamp),
    durationMs: entry.duration_ms,
    form: entry.command === '' ? '[redacted]' : normalForm(entry.command),
    outcome: outcomeOf(entry),
    agent: entry.agent_id ?? '',
  }));
}

function timelineOf(deeds: readonly Deed[], bucketMs: number, zoneMs: number) {
  const buckets = new Map<number, ReturnType<typeof noOutcomes>>();
  for (const { at, outcome } of deeds) {
    const start = Math.floor((at + zoneMs) / bucketMs) * bucketMs - zoneMs;
    const bucket = buckets.get(start) ?? noOutcomes();
    bucket[outcome] += 1;
    buckets.set(start, bucket);
  }
  return [...buckets]
    .sort(([a], [b]) => a - b)
    .map(([start, outcomes]) => ({ start: isoTime(start), ...outcomes }));
}

function heatOf(deeds: readonly Deed[], zoneMs: number): readonly (readonly number[])[] {
  const heat = Array.from({ length: 7 }, () => Array<number>(24).fill(0));
  for (const { at } of deeds) {
    const local = new Date(at + zoneMs);
    const row = heat[(local.getUTCDay() + 6) % 7];
    if (row !== undefined) row[local.getUTCHours()] = (row[local.getUTCHours()] ?? 0) + 1;
  }
  return heat;
}

function formsOf(deeds: readonly Deed[]) {
  const forms = new Map<string, { count: number; failed: number; duration_ms: number }>();
  for (const { form, outcome, durationMs } of deeds) {
    const one = forms.get(form) ?? { count: 0, failed: 0, duration_ms: 0 };
    one.count += 1;
    one.failed += Number(outcome === 'failed' || outcome === 'timed_out' || outcome === 'none');
    one.duration_ms += durationMs;
    forms.set(form, one);
  }
  return [...forms].map(([command, sums]) => ({ command, ...sums }));
}

type Period = {
  readonly since: number;
  readonly until: number;
  readonly zoneMs: number;
  /** Of commands that are entries of these; undefined: of all. */
  readonly journals: readonly string[] | undefined | '';
};

function outputByDay(store: Store, { since, until, zoneMs, journals }: Period) {
  const days = new Map<string, number>();
  for (const id of captureIds(store)) {
    const made = sessionIdTime(id);
    if (made === undefined || made < since || made >= until) continue;
    const size = sizeOf(store, id);
    if (journals && !journals.includes(size.journal)) continue;
    const day = dateText(made + zoneMs);
    days.set(day, (days.get(day) ?? 0) + size.bytes);
  }
  return [...days].sort().map(([day, bytes]) => ({ day, bytes }));
}

type Size = { readonly bytes: number; readonly journal: string };

const sizes = new Map<string, Size>();

function sizeOf(store: Store, id: string): Size {
  const known = sizes.get(id);
  if (known !== undefined) return known;
  const dir = captureDir(store.root, id);
  try {
    const { meta, final } = readState(dir);
    const bytes = final?.outputBytes ?? statSync(`${dir}/output.bin`).size;
    const size = { bytes, journal: meta?.journal?.directory ?? '' };
    if (final?.outputClosed === true) sizes.set(id, size);
    return size;
  } catch (error) {
    if (!isAppError(error) && !(error instanceof Error && 'syscall' in error)) throw error;
    return { bytes: 0, journal: '' }; // gone, or nothing was printed yet
  }
}
