// Every limit that a user can notice, with its reason. Nothing else lives here.

import type { TraceSetting } from './types.ts';

export const RETENTION_SECONDS_DEFAULT = 24 * 60 * 60; // seed 004: bytes live a day

export const OUTPUT_BYTES_MAX = 1024 * 1024 * 1024; // one capture may not fill a disk

export const READ_BYTES_DEFAULT = 65_536; // seed 004, derun_read_output

export const READ_BYTES_MAX = 8 * 1024 * 1024; // one read is held in memory as a whole

export const MEMORY_BYTES_MAX = 1024 * 1024; // of each stream, for a run that leaves no bytes

export const TIMER_MS_MAX = 2 ** 31 - 1; // Node fires a longer timer after 1 ms

export const KILL_GRACE_MS = 2_000; // TERM, then this long, then KILL

export const KILL_OBEY_MS = 5_000; // the runner gives KILL 3 seconds; later it does not obey

export const SESSION_ID_LENGTH_MAX = 128; // a file name, with room to spare

export const TRACE_DEFAULT: TraceSetting = 'auto'; // of agent tools

export const SWEEP_PAUSE_MS = 10_000; // short runs in a row sweep once, not each of them

export const ASK_MIN_MS = 1_000; // an answer that comes sooner was not given by a person who read
