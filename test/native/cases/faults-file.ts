// Faults of the file that shims write to, as a shim finds it when its program starts. The shim is
// brought in without a runner, so that nobody made the file as it should be.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** Bytes of a header: where native/trace.h has these fields. */
const VERSION_AT = 8;
const HEADER_BYTES_AT = 12;
const MODE_AT = 32;
const FILE_MAX_AT = 40;
const ARGV_MAX_AT = 48;
const ENV_COUNT_AT = 96;
const HEADER_BYTES = 4096;

export type FileFault = {
  readonly name: string;
  /** Makes what lies at `path`; `good` is a trace as a runner makes it. Gives CUFF_TRACE. */
  readonly make: (path: string, good: Buffer, dir: string) => string;
  readonly root?: boolean;
  /** As whom the command is run. */
  readonly before?: readonly string[];
  readonly cleanUp?: (dir: string) => void;
};

const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

function patched(name: string, patch: (file: Buffer) => Buffer): FileFault {
  return {
    name,
    make(path, good) {
      writeFileSync(path, patch(Buffer.from(good)), { mode: 0o600 });
      return path;
    },
  };
}

function number(name: string, at: number, value: number): FileFault {
  return patched(name, (file) => {
    file.writeUInt32LE(value, at);
    return file;
  });
}

/** Something that is no file. */
function thing(name: string, make: (path: string) => void): FileFault {
  return {
    name,
    make(path) {
      make(path);
      return path;
    },
  };
}

export const FILE_FAULTS: readonly FileFault[] = [
  thing('there is no file', () => undefined),
  thing('a directory', (path) => mkdirSync(path)),
  thing('a FIFO that nobody reads', (path) => execFileSync('mkfifo', [path])),
  thing('a socket', (path) => {
    const text = `import socket; socket.socket(socket.AF_UNIX).bind(${JSON.stringify(path)})`;
    execFileSync('python3', ['-c', text]);
  }),
  thing('a loop of symlinks', (path) => symlinkSync(path, path)),
  thing('an empty file', (path) => writeFileSync(path, '')),
  { name: 'a path that leads nowhere', make: (_, __, dir) => join(dir, 'no/such/place/trace.bin') },
  { name: 'an empty path', make: () => '' },
  { name: 'a relative path', make: () => 'trace.bin' },
  { name: 'a path longer than any', make: (path) => `${path}${'/./'.repeat(3000)}` },
  { name: '/dev/full', make: () => '/dev/full' },
  { name: '/dev/zero, which has no end', make: () => '/dev/zero' },
  { name: '/dev/null', make: () => '/dev/null' },
  { name: '/proc/self/mem', make: () => '/proc/self/mem' },
  patched('another magic', (file) => {
    file.write('NOTATRCE');
    return file;
  }),
  number('another version', VERSION_AT, 2),
  number('another length of the header', HEADER_BYTES_AT, 64),
  number('a mode that there is not', MODE_AT, 99),
  number('words without a limit', ARGV_MAX_AT, 0xffffffff),
  number('names without a limit', ENV_COUNT_AT, 0xffffffff),
  patched('names without an end', (file) => {
    file.writeUInt32LE(1000, ENV_COUNT_AT);
    return file.fill('X', ENV_COUNT_AT + 136, HEADER_BYTES);
  }),
  patched('half a header', (file) => file.subarray(0, 100)),
  patched('garbage instead of frames', (file) =>
    Buffer.concat([file.subarray(0, HEADER_BYTES), Buffer.alloc(5001, 0xa5)]),
  ),
  patched('no room left by its own limit', (file) => {
    file.writeBigUInt64LE(BigInt(file.length), FILE_MAX_AT);
    return file;
  }),
  {
    name: 'a file that only its owner may write',
    before: NOBODY,
    root: true,
    make(path, good) {
      writeFileSync(path, good, { mode: 0o444 });
      return path;
    },
  },
  {
    name: 'a directory that another user may not enter',
    before: NOBODY,
    root: true,
    make(_, good, dir) {
      const closed = join(dir, 'closed');
      mkdirSync(closed, { mode: 0o700 });
      writeFileSync(join(closed, 'trace.bin'), good);
      return join(closed, 'trace.bin');
    },
  },
  {
    name: 'a full disk',
    root: true,
    make(_, good, dir) {
      const small = join(dir, 'small');
      mkdirSync(small);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'none', small]);
      const path = join(small, 'trace.bin');
      writeFileSync(path, good.subarray(0, HEADER_BYTES));
      fillUp(join(small, 'rest'));
      return path;
    },
    cleanUp: (dir) => void spawnSync('umount', [join(dir, 'small')]),
  },
  {
    name: 'a file system that is read-only',
    root: true,
    make(_, good, dir) {
      const small = join(dir, 'small');
      mkdirSync(small);
      execFileSync('mount', ['-t', 'tmpfs', 'none', small]);
      writeFileSync(join(small, 'trace.bin'), good);
      execFileSync('mount', ['-o', 'remount,ro', small]);
      return join(small, 'trace.bin');
    },
    cleanUp: (dir) => void spawnSync('umount', [join(dir, 'small')]),
  },
  {
    name: 'a hole of many gigabytes',
    make(path, good) {
      writeFileSync(path, good);
      truncateSync(path, 40 * 2 ** 30);
      return path;
    },
  },
];

function fillUp(path: string): void {
  const fd = openSync(path, 'w');
  try {
    for (;;) writeSync(fd, Buffer.alloc(4096, 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(fd);
  }
}
