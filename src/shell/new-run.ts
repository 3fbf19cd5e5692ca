// A run that is about to start: what its meta.json says, and what its backend is asked to do.

import { newSessionId } from '../capture/paths.ts';
import { KILL_GRACE_MS, RETENTION_SECONDS_DEFAULT } from '../limits.ts';
import { thisProcess } from '../run/processes.ts';
import type { RunSpec } from '../run/spec.ts';
import type { CaptureMeta } from '../types.ts';

/** Those of T under these names, which may also be undefined: then a default stands in. */
type Optional<T, Names extends keyof T> = { readonly [Name in Names]?: T[Name] | undefined };

type MetaNeeded = 'command' | 'cwd' | 'transport' | 'outputBytesMax';
type MetaOptional = 'retentionSeconds' | 'ttyAttached' | 'killAfterMs' | 'trace';
type SpecNeeded = 'argv' | 'env' | 'dir' | 'sync';

const starter = thisProcess();
const PTY_MODE = process.platform === 'win32' ? 'windows-conpty' : 'posix-pty';

export function newMeta(
  run: Pick<CaptureMeta, MetaNeeded> &
    Optional<CaptureMeta, MetaOptional | 'id' | 'journal' | 'owner'>,
): CaptureMeta {
  const createdAt = Date.now();
  return {
    id: newSessionId(createdAt),
    createdAt,
    retentionSeconds: RETENTION_SECONDS_DEFAULT,
    transportMode: run.transport === 'pty' ? PTY_MODE : 'pipe',
    ttyAttached: false,
    starter,
    ...defined<Pick<CaptureMeta, MetaNeeded>>(run),
  };
}

/** By default a run in a session of its own, whose output is not passed on. */
export function newSpec(
  { id, cwd, transport, killAfterMs, outputBytesMax }: CaptureMeta,
  rest: Pick<RunSpec, SpecNeeded> & Optional<RunSpec, Exclude<keyof RunSpec, SpecNeeded>>,
): RunSpec {
  return {
    ...{ id, cwd, transport, killAfterMs, outputBytesMax },
    stdin: 'null',
    forward: false,
    session: 'own',
    graceMs: KILL_GRACE_MS,
    strict: false,
    size: { cols: 80, rows: 24 },
    ...defined<Pick<RunSpec, SpecNeeded>>(rest),
  };
}

function defined<Needed>(values: Needed & object): Needed {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Needed;
}
