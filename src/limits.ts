// Every limit that someone outside can notice, with its reason. Nothing else lives here.

export const RETENTION_SECONDS_DEFAULT = 24 * 60 * 60; // seed 004: bytes live a day

export const OUTPUT_BYTES_MAX = 1024 * 1024 * 1024; // one capture may not fill a disk

export const READ_BYTES_DEFAULT = 65_536; // seed 004, derun_read_output

export const READ_BYTES_MAX = 8 * 1024 * 1024; // one read is held in memory as a whole

export const KILL_GRACE_MS = 2_000; // TERM, then this long, then KILL

export const SESSION_ID_LENGTH_MAX = 128; // a file name, with room to spare

export const SWEEP_AT_START_MIN = 8; // captures looked at by every `run`, however short it is
