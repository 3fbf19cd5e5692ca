// Faults that come while a traced command runs, or that its runner meets before it starts it.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../../src/errors.ts';
import type { World } from './runs.ts';
import type { Live } from './workload.ts';

const FILE_MAX_AT = 40;

export type LiveFault = {
  readonly name: string;
  readonly root?: boolean;
  readonly text?: string;
  readonly before?: readonly string[];
  /** Before the runner starts. */
  readonly prepare?: (dir: string, world: World) => void;
  /** While the command waits. */
  readonly meanwhile?: (live: Live, world: World) => void;
  readonly cleanUp?: (dir: string) => void;
};

const trace = (dir: string): string => join(dir, 'trace.bin');

function inPlace(name: string, make: (path: string) => void): LiveFault {
  return { name: `at the start: ${name}`, prepare: (dir) => make(trace(dir)) };
}

function later(name: string, change: (dir: string, world: World) => void): LiveFault {
  return { name: `meanwhile: ${name}`, meanwhile: ({ dir }, world) => change(dir, world) };
}

function shims(world: World): string[] {
  return readdirSync(world.shim, { recursive: true, encoding: 'utf8' })
    .map((name) => join(world.shim, name))
    .filter((path) => statSync(path).isFile());
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const fd = openSync(path, 'r+');
  writeSync(fd, bytes, 0, bytes.length, at);
  closeSync(fd);
}

/** With what its runner makes in it at the same moment. */
function removeDirectory(dir: string): void {
  for (let there = true; there; ) {
    try {
      rmSync(dir, { recursive: true });
      there = false;
    } catch (error) {
      if (errnoOf(error) !== 'ENOTEMPTY') throw error;
    }
  }
}

const BEFORE: readonly LiveFault[] = [
  inPlace('a file is there', (path) => writeFileSync(path, 'something')),
  inPlace('a directory is there', (path) => mkdirSync(path)),
  inPlace('a FIFO is there', (path) => execFileSync('mkfifo', [path])),
  inPlace('a symlink is there', (path) => symlinkSync('/dev/full', path)),
  {
    name: 'at the start: there is no capture directory',
    prepare: (dir) => rmSync(dir, { recursive: true }),
  },
  {
    name: 'at the start: there is no shim',
    prepare: (_, world) => rmSync(world.shim, { recursive: true }),
  },
];

const MEANWHILE: readonly LiveFault[] = [
  later('the file is deleted', (dir) => rmSync(trace(dir))),
  later('the file is cut to nothing', (dir) => truncateSync(trace(dir), 0)),
  later('the file is replaced by text', (dir) => {
    writeFileSync(join(dir, 'other'), 'text');
    renameSync(join(dir, 'other'), trace(dir));
  }),
  later('the file is replaced by a FIFO', (dir) => {
    rmSync(trace(dir));
    execFileSync('mkfifo', [trace(dir)]);
  }),
  later('the file is replaced by a directory', (dir) => {
    rmSync(trace(dir));
    mkdirSync(trace(dir));
  }),
  later('the file is replaced by /dev/full', (dir) => {
    rmSync(trace(dir));
    symlinkSync('/dev/full', trace(dir));
  }),
  later('garbage comes between the frames', (dir) =>
    writeFileSync(trace(dir), Buffer.alloc(3001, 0x5a), { flag: 'a' }),
  ),
  later('the file may not grow any more', (dir) =>
    overwrite(trace(dir), FILE_MAX_AT, Buffer.alloc(8)),
  ),
  later('the header is spoilt', (dir) => overwrite(trace(dir), 0, Buffer.alloc(4096, 0xff))),
  later('the capture directory is removed', removeDirectory),
  later('the capture directory is moved away', (dir) => renameSync(dir, `${dir}-moved`)),
  later('the order FIFO is deleted', (dir) => rmSync(join(dir, 'control'))),
  later('the order FIFO is one that nobody reads', (dir) => {
    rmSync(join(dir, 'control'));
    execFileSync('mkfifo', [join(dir, 'control')]);
  }),
  later('the order FIFO is a directory', (dir) => {
    rmSync(join(dir, 'control'));
    mkdirSync(join(dir, 'control'));
  }),
  later('the order FIFO says nonsense', (dir) =>
    writeFileSync(join(dir, 'control'), 'seize 1 0 0\nseize x\nrelease\nseize 99999999 1 1\n'),
  ),
  later('the shim is deleted', (_, world) => rmSync(world.shim, { recursive: true })),
  later('the shim is replaced by another one', (_, world) => {
    for (const path of shims(world)) {
      execFileSync('cp', [path, `${path}.new`]);
      renameSync(`${path}.new`, path);
    }
  }),
  later('the shim is replaced by an empty file', (_, world) => {
    for (const path of shims(world)) {
      writeFileSync(`${path}.new`, '');
      renameSync(`${path}.new`, path);
    }
  }),
  later('nobody may read the shim', (_, world) => {
    for (const path of shims(world)) chmodSync(path, 0);
  }),
  {
    name: 'meanwhile: the file can no longer be changed',
    root: true,
    meanwhile: ({ dir }) => void spawnSync('chattr', ['+i', trace(dir)]),
    cleanUp: (dir) => void spawnSync('chattr', ['-i', trace(dir)]),
  },
];

const SAY = 'o hello e warn x 3';

/** Commands that make life hard for themselves. */
const PLACES: readonly LiveFault[] = [
  { name: 'umask 777', text: `read -r x < $W/go; umask 777; $B/start fork $B/say ${SAY}; exit 7` },
  {
    name: 'files of no size',
    text: `read -r x < $W/go; ulimit -f 0; $B/start spawn $B/say ${SAY}; exit 7`,
  },
  {
    name: '8 files, all but one in use',
    text: `read -r x < $W/go; ulimit -n 8; exec 3<&0 4<&0 5<&0 6<&0; $B/say ${SAY}; exit 7`,
  },
  {
    name: '3 files',
    text: `read -r x < $W/go; ulimit -n 3; $B/say ${SAY}; echo "$?"; exit 7`,
  },
  {
    name: 'just enough address space',
    text: `read -r x < $W/go; for v in 2300 2400 2500 2600 2700 2800 3000 3500 4500 6000; do
      (ulimit -v $v; exec $B/say ${SAY}) 2>&1 | sed "s/^/$v: /"; done; exit 7`,
  },
  {
    name: 'another user',
    root: true,
    text: `su -s /bin/sh nobody -c '$B/say ${SAY}; (exit 4); echo "$?"'; exit 7`,
  },
  {
    name: 'no /proc',
    root: true,
    text: `unshare -m sh -c 'umount -l /proc; $B/start vfork $B/say ${SAY}
      $B/say-static o two x 4'; exit 7`,
  },
  {
    name: 'an empty root',
    root: true,
    text: `mkdir $W/r; cp $B/say-static $W/r; chroot $W/r /say-static ${SAY}; echo "$?"; exit 7`,
  },
  {
    name: 'CUFF_TRACE of the user',
    text: 'CUFF_TRACE=/nowhere $B/say o hello x 3; echo "$CUFF_TRACE"; exit 7',
  },
  {
    name: 'LD_PRELOAD of the user that cannot be loaded',
    text: `LD_PRELOAD=/nowhere/x.so $B/say ${SAY}; export LD_PRELOAD="/nowhere/y.so $B/hook.so"
      $B/start fork $B/say ${SAY}; exit 7`,
  },
];

export const LIVE_FAULTS: readonly LiveFault[] = [...BEFORE, ...MEANWHILE, ...PLACES];
