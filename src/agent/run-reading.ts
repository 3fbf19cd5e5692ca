// Reading the captures of runs. An answer is about one moment: it looks at a run through one
// `Look`, which opens the capture once.

import { type ReadResult, readOutput } from '../capture/reader.ts';
import { type ViewOptions, view } from '../shell/output/raw-view.ts';
import type { Capture } from '../shell/shell.ts';
import type { View } from '../types.ts';

export type Look = {
  /** Throws `session_not_found`. */
  open(id: string): Capture;
  view(id: string, options: ViewOptions): View;
  read(id: string, cursor: number, maxBytes: number): ReadResult;
};

/** `silent`: nothing of the run need be read. */
export function lookWith(open: Look['open'], silent: (id: string) => boolean): Look {
  return {
    open,
    view: (id, options) => view(open(id), options),
    read: (id, cursor, maxBytes) =>
      silent(id) ? NOTHING_READ : readOutput(open(id), cursor, maxBytes),
  };
}

const NOTHING_READ: ReadResult = { chunks: [], nextCursor: 0, eof: true, final: true };
