// The capture of a run that is about to start. The intent comes first: no command starts before its
// meta.json is written. What else the start needs, the runner prepares at the same time.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInMemory } from '../capture/in-memory.ts';
import { homeDir } from '../capture/paths.ts';
import { createCapture, type Store } from '../capture/store.ts';
import { AppError, errnoOf, messageOf, reasonOf } from '../errors.ts';
import { MEMORY_BYTES_MAX } from '../limits.ts';
import { argvOf } from '../run/env.ts';
import { Memory } from '../run/memory.ts';
import type { Backend, RunSpec } from '../run/spec.ts';
import type { CaptureMeta, Env } from '../types.ts';
import type { Recording } from './run.ts';
import { isForbidden } from './spool-look.ts';
import { createSpooled } from './spool-place.ts';
import { noteUncaptured } from './uncaptured.ts';

type NewRecording = {
  readonly recording: Recording;
  /** Where the capture is. */
  readonly at: Store;
  readonly spec: RunSpec;
};

/**
 * A capture under the state root, with its files in `memory` if one is named and takes them; or in
 * a spool, if a sandbox forbids that; or else one in the temporary directory, for as long as the
 * run lasts, and the reason. Where nothing can be written the output is in the memory of the spec.
 */
export function createRecording(
  store: Store,
  meta: CaptureMeta,
  backend: Backend,
  specIn: (dir: string) => RunSpec,
  { env, memory }: { readonly env: Env; readonly memory: string | undefined },
): NewRecording {
  const argv = argvOf(meta.command);
  const spec = specIn(homeDir(memory ?? store.root, meta.id));
  let withdraw: (() => void) | undefined;
  const prepare = (): void => {
    withdraw = backend.prepare?.(spec);
  };
  try {
    const dir =
      memory === undefined
        ? createCapture(store, meta, argv, prepare)
        : createInMemory(store, memory, meta, argv, prepare);
    return { recording: { on: true, dir }, at: store, spec };
  } catch (error) {
    withdraw?.();
    if (memory !== undefined && errnoOf(error) !== 'session_exists') {
      return createRecording(store, meta, backend, specIn, { env, memory: undefined });
    }
    const unwritable = !(error instanceof AppError) || error.code === 'state_unwritable';
    if (spec.strict || !unwritable) throw error;
    const where = { cwd: meta.cwd, env };
    const spooled = isForbidden(error) ? createSpooled(store, meta, argv, where) : undefined;
    if (spooled !== undefined) {
      const { at, dir } = spooled;
      return { recording: { on: true, dir }, at, spec: specIn(dir) };
    }
    const why = messageOf(error);
    noteUncaptured(store.root, meta, reasonOf(error));
    // mkdtemp makes a name that no other process has; it is removed with the run.
    const temporary = temporaryRoot();
    if (temporary === undefined) {
      return { recording: { on: false, dir: '', why }, at: store, spec: unwritten(spec) };
    }
    const at = { ...store, root: temporary };
    const dir = createCapture(at, meta, argv);
    return { recording: { on: false, dir, why }, at, spec: specIn(dir) };
  }
}

/** Undefined if no directory can be made. */
function temporaryRoot(): string | undefined {
  for (const folder of [tmpdir(), '/tmp', '/dev/shm']) {
    try {
      return mkdtempSync(join(folder, 'cuff-unrecorded-'));
    } catch {
      // Read-only or full: try the next.
    }
  }
  return undefined;
}

/** Without any file: the head of its output is kept in memory. */
function unwritten(spec: RunSpec): RunSpec {
  const { dir: _, trace: _1, ...rest } = spec;
  const transport = spec.transport === 'socket' ? 'pipe' : spec.transport;
  return {
    ...rest,
    dir: undefined,
    transport,
    memory: spec.memory ?? new Memory(MEMORY_BYTES_MAX),
  };
}
