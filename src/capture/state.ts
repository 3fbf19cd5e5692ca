// The state of a capture, from its files and from which processes are alive. A process is its pid
// and its start time. Pure: the caller has read the files and can ask whether a process lives.
import type { CaptureFinal, CaptureMeta, CaptureState, ProcessId } from '../types.ts';

export type Liveness = {
  readonly alive: (process: ProcessId) => boolean;
  readonly now: () => number;
};

/** The state, and for those that need it a word on why. */
export type Status = { readonly state: CaptureState; readonly reason?: string };

type Meta = Pick<CaptureMeta, 'runner' | 'starter' | 'retentionSeconds' | 'inMemory'> | undefined;
type Final = CaptureFinal | undefined;

/** `undefined` for meta or final means missing or damaged. */
export function captureState(meta: Meta, final: Final, world: Liveness): Status {
  if (final !== undefined) {
    if (meta !== undefined && expired(meta, final, world)) {
      return { state: 'expired', reason: 'retention over' };
    }
    const { outcome } = final;
    if (outcome.kind !== 'failed') return { state: final.state };
    return { state: 'failed', reason: outcome.message || outcome.error };
  }
  if (meta === undefined) return { state: 'failed', reason: 'unreadable' };
  if (meta.inMemory) return { state: 'failed', reason: 'was kept in memory, which is gone' };
  if (meta.runner !== undefined) {
    if (world.alive(meta.runner)) return { state: 'running' };
    return { state: 'failed', reason: 'interrupted' };
  }
  if (world.alive(meta.starter)) return { state: 'starting' };
  return { state: 'failed', reason: 'never started' };
}

/** More bytes may come: a live process can append them. */
export function outputOpen(meta: Meta, final: Final, { alive }: Pick<Liveness, 'alive'>): boolean {
  if (final?.outputClosed === true || meta?.inMemory === true) return false;
  if (meta === undefined) {
    // Without meta.json the runner is unknown, but it lives as long as processes hold its pipe.
    return final?.survivors.some((one) => one.holdsOutput && alive(one)) === true;
  }
  if (meta.runner !== undefined) return alive(meta.runner);
  return final === undefined && alive(meta.starter);
}

/** Something of the run is still going on, so its capture must stay whatever its age. */
export function active(meta: Meta, final: Final, world: Pick<Liveness, 'alive'>): boolean {
  return outputOpen(meta, final, world) || final?.survivors.some(world.alive) === true;
}

function expired(meta: NonNullable<Meta>, final: CaptureFinal, world: Liveness): boolean {
  const over = final.at + meta.retentionSeconds * 1000 <= world.now();
  return over && !active(meta, final, world);
}
