// `GET /api/health` and `/api/storage`: how servers and machine do, and where the room goes.

import { closeSync, fstatSync, openSync, statfsSync } from 'node:fs';
import { captureDir } from '../../capture/paths.ts';
import { capturesRoom, roomJson, roomOf } from '../../capture/room.ts';
import { captureIds, summarise } from '../../capture/store.ts';
import { existingAbove } from '../../directories.ts';
import { errnoOf, isAppError } from '../../errors.ts';
import { unrecordedCommands, unrecordedJson } from '../../hooks/shell/unrecorded.ts';
import { parseLeaf } from '../../ledger/leaf.ts';
import { statusJson, statusOf } from '../../ops/status.ts';
import { trustNotices } from '../../policies/trust-notices.ts';
import { anchorState, anchorStateJson } from '../../sealing/anchors/state.ts';
import { leafLines } from '../../sealing/leaf-lines.ts';
import { sealFile } from '../../sealing/place.ts';
import { type Check, capabilities } from '../../shell/capabilities.ts';
import { commandText } from '../../shell/capture-json.ts';
import type { CaptureSummary, Store } from '../../shell/captures.ts';
import { traceChecks } from '../../shell/trace-capabilities.ts';
import { uncapturedJson, uncapturedRuns } from '../../shell/uncaptured.ts';
import { dateText, isoTime } from '../../text/dates.ts';
import type { HealthAnswer, StorageAnswer } from '../api.ts';
import type { Ground, Question } from './ground.ts';

const CHECKS_MS = 60_000; // they start programs
const SHOWN_MAX = 20;

export const health: Question = { params: [], answer: healthAnswer };
export const storage: Question = { params: [], answer: ({ store }) => storageAnswer(store) };

async function healthAnswer({ env, cwd, store, journals }: Ground): Promise<HealthAnswer> {
  const status = statusJson(statusOf(store, journals[0]?.directory ?? ''));
  const checks = await checksOf(env, store.now());
  const anchors = anchorState(store.root);
  const own = status.servers.every(({ health: one }) => one.healthy !== false);
  return {
    uncaptured: [],
    unrecorded: [],
    ...status,
    ...uncapturedJson(uncapturedRuns(store.root)),
    ...unrecordedJson(unrecordedCommands(store.root, store.now())),
    notices: [...(await trustNotices(cwd, env))],
    anchors: anchors === undefined ? null : anchorStateJson(anchors),
    checks: checks.map(({ name, status: found, value, hint }) => ({
      name,
      ok: found !== 'bad',
      detail: hint === undefined ? value : `${value}. ${hint}`,
    })),
    free_bytes: freeBytes(store.root),
    healthy: own && checks.every(({ status: found }) => found !== 'bad'),
  };
}

let checked: { readonly at: number; readonly checks: readonly Check[] } | undefined;

async function checksOf(env: NodeJS.ProcessEnv, now: number): Promise<readonly Check[]> {
  if (checked === undefined || Math.abs(now - checked.at) > CHECKS_MS) {
    const { checks } = await capabilities(env);
    checked = { at: now, checks: [...checks, ...traceChecks(env)] };
  }
  return checked.checks;
}

function freeBytes(directory: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(existingAbove(directory));
    return bavail * bsize;
  } catch {
    return null; // a file system that does not tell
  }
}

type Sum = { captures: number; disk_bytes: number };

function storageAnswer(store: Store): StorageAnswer {
  const days = new Map<string, Sum>();
  const projects = new Map<string | null, Sum>();
  const sized: { readonly capture: CaptureSummary; readonly bytes: number }[] = [];
  for (const id of captureIds(store)) {
    const capture = summarise(store, id);
    const bytes = capture === undefined ? undefined : diskBytes(store, id);
    if (capture === undefined || bytes === undefined) continue;
    sized.push({ capture, bytes });
    add(days, dateText(capture.createdAt), bytes);
    const { meta } = capture;
    add(projects, meta?.owner?.project ?? meta?.journal?.draft.working_directory ?? null, bytes);
  }
  const facts = ({ capture, bytes }: (typeof sized)[number]) => ({
    session_id: capture.id,
    disk_bytes: bytes,
    command: commandText(capture),
  });
  const ending = sized.flatMap((one) => {
    const { meta, final, pinned } = one.capture;
    if (meta === undefined || final === undefined || pinned) return [];
    return [{ ...facts(one), end: final.at + meta.retentionSeconds * 1000 }];
  });
  return {
    captures: roomJson(capturesRoom(store)),
    days: [...days].sort().map(([day, sum]) => ({ day, ...sum })),
    projects: [...projects]
      .map(([project, sum]) => ({ project, ...sum }))
      .sort((a, b) => b.disk_bytes - a.disk_bytes),
    largest: sized
      .toSorted((a, b) => b.bytes - a.bytes)
      .slice(0, SHOWN_MAX)
      .map((one) => ({ ...facts(one), pinned: one.capture.pinned })),
    next: ending
      .sort((a, b) => a.end - b.end)
      .slice(0, SHOWN_MAX)
      .map(({ end, ...one }) => ({ ...one, at: isoTime(end) })),
    pinned: sized.filter(({ capture }) => capture.pinned).length,
    tombstones: tombstones(store.root),
  };
}

function add<K>(sums: Map<K, Sum>, key: K, bytes: number): void {
  const { captures, disk_bytes } = sums.get(key) ?? { captures: 0, disk_bytes: 0 };
  sums.set(key, { captures: captures + 1, disk_bytes: disk_bytes + bytes });
}

/** Undefined for one that is gone, or that we may not read. */
function diskBytes(store: Store, id: string): number | undefined {
  try {
    return roomOf(captureDir(store.root, id)).diskBytes;
  } catch (error) {
    if (errnoOf(error) === undefined && !isAppError(error)) throw error;
    return undefined;
  }
}

/** Sessions and journals that were deleted, as the ledger has it. */
function tombstones(stateRoot: string): number {
  let fd: number;
  try {
    fd = openSync(sealFile(stateRoot, 'leaves'), 'r');
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return 0; // nothing is sealed
  }
  try {
    let count = 0;
    for (const { bytes } of leafLines(fd, 0, fstatSync(fd).size)) {
      if (parseLeaf(bytes.toString('latin1'))?.kind === 'tombstone') count += 1;
    }
    return count;
  } finally {
    closeSync(fd);
  }
}
