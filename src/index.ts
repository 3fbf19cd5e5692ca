// The library: `import { createShell } from 'cuff'`.

export { AppError, type ErrorCode } from './errors.ts';
export type { KillOptions, MemoryOutput, Recording, Run } from './running.ts';
export {
  type Capture,
  type CaptureSummary,
  createShell,
  type OutputPiece,
  type ReadResult,
  type Shell,
  type ShellOptions,
  type StartOptions,
  type ViewOptions,
} from './shell.ts';
export type {
  CaptureFinal,
  CaptureMeta,
  CaptureState,
  Channel,
  Chunk,
  Command,
  Ended,
  EndedBy,
  Outcome,
  ProcessId,
  Survivor,
  Transport,
  TransportMode,
  View,
} from './types.ts';
