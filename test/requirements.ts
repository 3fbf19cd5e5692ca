// The requirements this house promises to prove, as data. The tables in `test/proofs/` say which
// test proves which of them, and `test/requirements.test.ts` fails while one in scope is not proven
// by a test that passed. The ids are those of the seed documents; the words are ours and only say
// enough to recognise the line.

import { IDS as catalog } from './ids/catalog.ts';
import { IDS as enforce } from './ids/enforce.ts';
import { IDS as host } from './ids/host.ts';
import { IDS as journal } from './ids/journal.ts';
import { IDS as mcp } from './ids/mcp.ts';
import { IDS as phoenix } from './ids/phoenix.ts';
import { IDS as pipe } from './ids/pipe.ts';
import { IDS as policy } from './ids/policy.ts';
import { IDS as record } from './ids/record.ts';
import { IDS as recorder } from './ids/recorder.ts';
import { IDS as shellText } from './ids/shell-text.ts';
import { IDS as text } from './ids/text.ts';
import { IDS as trace } from './ids/trace.ts';

/** In scope now: every id needs at least one test that proves it. */
export const REQUIREMENTS: Readonly<Record<string, string>> = {
  ...catalog,
  ...enforce,
  ...host,
  ...journal,
  ...mcp,
  ...phoenix,
  ...pipe,
  ...policy,
  ...record,
  ...recorder,
  ...text,
  ...shellText,
  ...trace,

  // Seed 001, execution: one fresh shell per command, in a fixed directory, in its own group.
  'S001-R001': 'every command gets a fresh bash; no cd and no variable survives it',
  'S001-R002': 'a command that crashes leaves the next one unharmed',
  'S001-R010': 'the working directory is fixed when the shell is made, and used by every run',
  'S001-R011': 'a shell command is started as bash -c in that directory',
  'S001-R015': 'every run has its own process group',
  'S001-R016': 'a kill can end the whole group with SIGKILL',

  // Seed 002, execution, environment and working directory.
  'S002-R014': 'a shell command runs as bash -c in the configured directory',
  'S002-R015': 'stdin of a shell command is at its end from the start',
  'S002-R016': 'stdout and stderr are both captured',
  'S002-R017': 'a run is a new process group',
  'S002-R018': 'the child environment is the parent environment without secrets',
  'S002-R019': 'EDITOR is /bin/false',
  'S002-R020': 'a deadline kills the whole group and the outcome says so',
  'S002-R024': 'a run nobody waits for also has no stdin and its own group',
  'S002-R030': 'kill -9 of the negative pid ends what a run left in the background',
  'S002-R040': 'failing to start is told apart from a command that failed',
  'S002-R053': 'EDITOR and VISUAL are /bin/false whether or not somebody waits',
  'S002-R055': 'a program that opens an editor fails at once and does not block',
  'S002-R056': 'the group kill is SIGKILL to the negative pid',
  'S002-R057': 'ANTHROPIC_* is withheld from the command',
  'S002-R058': 'OPENAI_* is withheld from the command',
  'S002-R059': 'GEMINI_* is withheld from the command',
  'S002-R060': 'AWS_SECRET* is withheld from the command',
  'S002-R061': 'PHOENIX_* is withheld from the command',
  'S002-R062': 'every other variable is handed on',
  'S002-R063': 'a missing working directory is refused with an error of its own',
  'S002-R064': 'a working directory that is a file is refused with an error of its own',
  'S002-R065': 'the working directory is checked before every run',
  'S002-R070': 'tested: environment filtering',
  'S002-R071': 'tested: a run that is waited for',
  'S002-R072': 'tested: the life of a run that is not waited for',
  'S002-R073': 'tested: no process of the group is left after a deadline',
  'S002-R074': 'tested: working directory checks',
  'S002-R076': 'property: no environment leaves a secret key in the filtered one',

  // Seed 004, what it is.
  'S004-R001': 'derun run is indistinguishable from the bare command at a terminal',
  'S004-R003': 'the capture is a side channel that can be read later',
  'S004-R004': 'stdin, tty and escape sequences pass through; streams are not altered',
  'S004-R005': 'a capture is raw bytes plus an index of chunks, on the local disk',
  'S004-R008': 'one interface over POSIX pty, ConPTY and pipe',
  'S004-R009': 'captures are swept after 24 hours unless told otherwise',

  // Seed 004, parts.
  'S004-R014': 'the command line routes derun run (derun mcp follows with its server)',
  'S004-R015': 'run starts the child, owns its life and passes on its end',
  'S004-R016': 'the transport is chosen: posix-pty, windows-conpty or pipe',
  'S004-R017': 'output is duplicated into append-only storage',
  'S004-R018': 'the index has byte offsets, channels and a growing cursor',
  'S004-R020': 'the sweep runs when a run starts (the periodic one follows with the server)',
  'S004-R022': 'a pty when a terminal is present, otherwise a pipe',
  'S004-R023': 'bytes are forwarded unchanged and persisted at the same time',
  'S004-R024': 'meta and index grow while chunks are written',
  'S004-R026': 'final state and exit facts are persisted at the end',
  'S004-R027': 'the command run exists (mcp follows with its server)',
  'S004-R028': 'states: starting, running, exited, signaled, failed, expired',
  'S004-R029': 'channels: pty, stdout, stderr',
  'S004-R030': 'transport modes: posix-pty, windows-conpty, pipe',

  // Seed 004, the command line.
  'S004-R032': 'derun run [--session-id ID] [--retention DUR] -- CMD [ARGS...]',
  'S004-R033': 'a retention is positive and whole seconds; 500ms and 1500ms are refused',
  'S004-R034': 'a refused retention exits 2',
  'S004-R035': 'a session id with meta.json or final.json is refused, exit 2, files untouched',
  'S004-R036': 'an invalid session id, "." included, is refused, exit 2, nothing written',
  'S004-R047': 'a cursor is an unsigned byte offset, written as decimal digits where it is text',

  // Seed 004, fidelity.
  'S004-R048': 'nothing of ours is written into the streams of the child',
  'S004-R049': 'typed bytes reach the child',
  'S004-R050': 'resizes reach the child',
  'S004-R051': 'termination signals reach the child',
  'S004-R052': 'ConPTY follows every console resize',
  'S004-R053': 'ConPTY drains shortly after exit, and is closed by force only when that stalls',
  'S004-R054': 'signals are forwarded from before the pid is published',
  'S004-R055': 'without ConPTY the run goes on over a pipe',
  'S004-R056': 'exit code or signal of the child is that of run',
  'S004-R057': 'capturing never changes a forwarded byte',
  'S004-R058': 'EIO on a pty is the end of the output, not a failure',
  'S004-R059': 'a terminal is what isatty says; /dev/null is none',
  'S004-R060': 'reading needs an explicit session id',
  'S004-R061': 'there is no implicit latest session',

  // Seed 004, on disk.
  'S004-R062': 'state root: $XDG_STATE_HOME/derun, else ~/.local/state/derun',
  'S004-R063': 'state root on Windows: %LOCALAPPDATA%/derun/state',
  'S004-R064': 'one directory per capture: sessions/<id>/',
  'S004-R065': 'meta.json: identity and command',
  'S004-R066': 'output.bin: every byte, append only',
  'S004-R067': 'index.jsonl: offset, length, channel, timestamp',
  'S004-R068': 'final.json: state, exit code or signal, time of the end',
  'S004-R069': 'the default retention is 24 hours',
  'S004-R070': 'retention_seconds in meta.json overrides the default of the sweep',
  'S004-R071': 'retention is kept in whole seconds and never silently shortened',
  'S004-R072': 'expired captures are swept when a run starts',
  'S004-R074': 'an orphan expires at its last touch plus the default of the sweep',
  'S004-R075': 'the last touch is the latest mtime of the directory and its direct children',
  'S004-R076': 'expired orphans are removed, the others kept',
  'S004-R077': 'an active capture is never removed',
  'S004-R078': 'meta.json and final.json are replaced by temp file and rename',
  'S004-R079': 'meta.json is there before the transport starts, so a failed start is listed',
  'S004-R080': 'meta.json gets the pid after launch and its identity stays as it was',
  'S004-R081': 'appends are guarded by append.lock',
  'S004-R082': 'storage is local and of the same user',
  'S004-R083': 'directories are 0700',
  'S004-R084': 'files are 0600',
  'S004-R085': 'stdin is handed on and never stored',
  'S004-R086': 'real paths are resolved first; traversal and symlinks out are refused',
  'S004-R087': 'ids that alias a path segment are refused',
  'S004-R088': 'the path checks hold for each file of a capture, reading and writing',
  'S004-R090': 'no secret value gets into the operational log',

  // Seed 004, the operational log.
  'S004-R091': 'log field session_id',
  'S004-R092': 'log field transport_mode',
  'S004-R093': 'log field tty_attached',
  'S004-R094': 'log field chunk_offset',
  'S004-R095': 'log field chunk_size',
  'S004-R096': 'log field state_transition',
  'S004-R097': 'log field exit_code',
  'S004-R098': 'log field signal',
  'S004-R099': 'log field cleanup_result',
  'S004-R100': 'log field cleanup_reason',
  'S004-R101': 'the log has its own file; the streams of the child are left alone',
  'S004-R102': 'the sweep logs one result per capture: skip, remove or error',
  'S004-R103': 'the seven cleanup reasons',

  // Seed 004, what must be tested.
  'S004-R104': 'CI covers Linux, macOS and Windows',
  'S004-R105': 'one command builds and one tests',
  'S004-R110': 'tested: vim and coloured output look as without us',
  'S004-R111': 'tested: Ctrl-C, exit code and signal are passed on',
  'S004-R113': 'tested: replay from cursor 0 after the end',
  'S004-R114': 'tested: concurrent runs have their own meta and cursors',
  'S004-R115': 'tested: large output in chunks with a stable next cursor',
  'S004-R116': 'tested: only expired captures are removed, active ones kept',
  'S004-R117': 'tested: POSIX pty, and ConPTY where there is one',
  'S004-R118': 'tested: traversal and symlinks out are refused, reading and writing',
  'S004-R120': 'tested: escape sequences are equal through a pty',
  'S004-R121': 'tested: Ctrl-C arrives as a signal',
  'S004-R122': 'tested: pipe mode captures output and exit code',
  'S004-R125': 'tested: concurrent runs are isolated',
  'S004-R126': 'tested: the cursor moves on steadily over large output',
  'S004-R127': 'tested: the sweep removes only expired captures that ended',
  'S004-R128': 'tested: ConPTY, or a skip that says why',
  'S004-R129': 'tested: bad ids, a symlinked directory and symlinked files are refused',
};

/** In scope, and proven on this system alone: elsewhere its tests are skipped and say why. */
export const ONLY_ON: Readonly<Record<string, NodeJS.Platform>> = {
  'S004-R052': 'win32',
  'S004-R053': 'win32',
  'S004-R128': 'win32',
};

/** Not for a test to prove: out of scope by its own words, open, a plan, or replaced. */
export const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'S000-R023': 'non-goal of the recorder; enforcement comes with the policy engine',
  'S000-R258': 'planned by the seed, not asked for: encryption',
  'S000-R259': 'planned by the seed, not asked for: remote storage',
  'S000-R260': 'planned by the seed, not asked for: running sessions again',
  'S000-R261': 'planned by the seed, not asked for: classification by a model',
  'S000-R266': 'planned by the seed; batching and SQLite are built, compression is not',
  'S000-R265': 'planned by the seed, not asked for: forwarding to other systems',
  'S001-R073': 'non-goal: parsing commands in this dialect',
  'S003-R006': 'macOS: the shim is compiled for it and was never run there',
  'S003-R017': 'superseded: exec is told by hooks that neither lock nor allocate; vfork is let be',
  'S003-R033': 'superseded: exec, fork, exit and wait are hooked too, for true exit codes',
  'S003-R036': 'superseded: there is no connection; frames are appended to a file',
  'S003-R042': 'superseded: a stream is known by device and inode, which no table can get wrong',
  'S003-R063': 'planned by the seed, not asked for: fcntl on macOS',
  'S004-R010': 'non-goal: several hosts',
  'S004-R011': 'non-goal: typing into somebody else’s terminal',
  'S004-R012': 'non-goal: redaction that changes captured bytes',
  'S004-R013': 'non-goal: replacing the shell',
  'S004-R021': 'superseded: a package layout for another language; ours is held by the tidy test',
  'S004-R131': 'plan: phase 1, proven by the lines above',
  'S004-R133': 'plan: phase 3',
  'S004-R134': 'plan: phase 4',
  'S004-R135': 'open question of the seed: schema versions',
  'S004-R136': 'open question of the seed: compression',
  'S004-R137': 'open question of the seed: slow file systems',
};

/** In scope of the product and not of this floor. */
export const LATER: Readonly<Record<string, string>> = {};

/**
 * For `it.skipIf(lacking(condition, reason))`: a test that does not run says why, once per reason.
 */
export function lacking(missing: boolean, reason: string): boolean {
  if (missing && !told.has(reason)) process.stderr.write(`skipped: ${reason}\n`);
  if (missing) told.add(reason);
  return missing;
}

const told = new Set<string>();
