// WS /api/live
//
// The first message is `{"token":"..."}`; nothing is answered before it, and any other closes the
// socket with 4401, as does a token that is not (any more) one. Then:

import type { Hole } from '../../types.ts';
import type { Question } from './policy.ts';
import type { LiveRun, RunSummary } from './runs.ts';
import type { SessionRow } from './sessions.ts';

export type ClientMessage =
  | { readonly token: string }
  /** Everything from `from` on, then what comes. A run may be followed once on a socket. */
  | { readonly sub: 'run'; readonly id: string; readonly from: number }
  | { readonly unsub: 'run'; readonly id: string }
  /** Rows that changed since. */
  | { readonly sub: 'sessions' }
  | { readonly unsub: 'sessions' }
  /** All live runs, now and whenever one begins or ends. */
  | { readonly sub: 'runs' }
  | { readonly unsub: 'runs' }
  /** All pending questions, now and whenever there are others. */
  | { readonly sub: 'questions' }
  | { readonly unsub: 'questions' };

export type ServerMessage =
  | { readonly type: 'ready'; readonly server_id: string; readonly read_only: boolean }
  /** The run is followed: its frames carry `channel`. `from` is where they begin. */
  | {
      readonly type: 'run';
      readonly id: string;
      readonly channel: number;
      readonly from: number;
      readonly output_bytes: number;
      readonly output_open: boolean;
    }
  /**
   * The page is slow: `[from, to)` was not sent. Read it by Range if it is wanted; frames go on at
   * `to`.
   */
  | {
      readonly type: 'behind';
      readonly id: string;
      readonly from: number;
      readonly to: number;
      readonly bytes: number;
    }
  /** `[from, to)` is not kept. */
  | { readonly type: 'hole'; readonly id: string; readonly hole: Hole }
  /** Its state is another, the shell is done, or (`output_open` false) nothing more can come. */
  | { readonly type: 'state'; readonly id: string; readonly run: RunSummary }
  | {
      readonly type: 'sessions';
      readonly rows: readonly SessionRow[];
      /** Ids of sessions that are gone. */
      readonly gone: readonly string[];
    }
  | { readonly type: 'runs'; readonly runs: readonly LiveRun[] }
  | { readonly type: 'questions'; readonly questions: readonly Question[] }
  /** What was asked for cannot be had; the socket stays. */
  | {
      readonly type: 'error';
      readonly code: string;
      readonly message: string;
      /** Of the run, where it is about one. */
      readonly id?: string;
    };

/**
 * A binary frame is 8 bytes and then bytes of output.bin. The 8 bytes are one unsigned number, most
 * significant byte first: the upper 16 bits are the channel, the lower 48 the offset of the first
 * byte. Frames of a channel are in order, without repetition, and whole but for what `behind` and
 * `hole` name.
 */
export const FRAME_HEAD_BYTES = 8;

/** Why the server closed a socket. */
export const CLOSE = { unauthorized: 4401, badMessage: 4400, over: 1001 } as const;
