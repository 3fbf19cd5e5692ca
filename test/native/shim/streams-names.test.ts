// On a socket /dev/stdout and its kin cannot be opened, on a pipe they can: with the shim a socket
// is as good as a pipe. What is compared is always a bare run on pipes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lacking } from '../../requirements.ts';
import { drive, has, program, seen, workDir } from './streams-helper.ts';

const names = program('names', 'cc -O1');
const noCpp = lacking(!has('c++'), 'a C++ compiler is not installed');
const text = join(workDir, 'text');
writeFileSync(text, 'of a file\n'.repeat(2000));
let directories = 0;

function fresh(): string {
  const path = join(workDir, `names-${++directories}`);
  mkdirSync(path);
  return path;
}

it('every function that opens by name answers as on a pipe, errno included', () => {
  const bare = drive('pipe', [names, fresh()], { bare: true });
  const run = drive('socket', [names, fresh()]);
  expect(seen(bare)).toMatchObject({ code: 0, stdout: expect.stringContaining('fopen r+e\n') });
  expect(`${seen(bare).stdout}${seen(bare).stderr}`).not.toMatch(/failed|changed/);
  expect(seen(run)).toEqual(seen(bare));
});

it('it does so where both streams are one socket', () => {
  const bare = drive('merged', [names, fresh()], { bare: true });
  expect(seen(drive('mergedsocket', [names, fresh()]))).toEqual(seen(bare));
});

it('without the shim it would not', () => {
  const run = drive('socket', [names, fresh()], { bare: true });
  expect(run.stdout.toString()).toContain('open failed: No such device or address');
});

// Only programs that write to the name, and none that replaces it (install, mv, ln): run by root,
// those would replace /dev/stdout itself.
const PROGRAMS: readonly (readonly [string, string, ...string[]])[] = [
  [
    'bash',
    'bash',
    '-c',
    'echo a >/dev/stdout; echo b >/dev/fd/2; echo c >>/dev/stderr; exec 7>&1 >/dev/null; ' +
      'echo d >/dev/fd/7; exec >&7; (echo e >/proc/$$/fd/2); ' +
      '{ echo f; } 2>/dev/stdout >/dev/stderr',
  ],
  ['dash', 'dash', '-c', 'echo a >/dev/stdout; echo b >/dev/fd/2; echo c 3>&1 >/dev/fd/3'],
  ['tee', 'sh', '-c', `tee /dev/stderr < ${text}`],
  [
    'python',
    'python3',
    '-c',
    'import os; open("/dev/stdout","w").write("a\\n"); ' +
      'open("/dev/stderr","ab",0).write(b"b\\n"); ' +
      'os.write(os.open("/dev/fd/1", os.O_WRONLY), b"c\\n")',
  ],
  [
    'perl',
    'perl',
    '-e',
    'open F, ">/dev/stdout" or die; print F "a\\n"; close F; ' +
      'open STDOUT, ">>", "/dev/fd/2" or die; print "b\\n"',
  ],
  ['awk', 'awk', 'BEGIN { print "a" > "/dev/stderr"; print "b" > "/dev/stdout" }'],
  ['dd', 'dd', `if=${text}`, 'of=/dev/stdout', 'bs=1000', 'conv=notrunc', 'status=none'],
  [
    'node',
    process.execPath,
    '-e',
    'const fs = require("fs"); fs.writeFileSync("/dev/stdout", "a\\n"); ' +
      'fs.appendFileSync("/dev/stderr", "b\\n"); fs.createWriteStream("/dev/fd/1").end("c\\n")',
  ],
  ['cp', 'cp', text, '/dev/stdout'],
  ['sort', 'sort', '-o', '/dev/stdout', text],
  ['tar', 'tar', 'cf', '/dev/stdout', '-C', workDir, 'text'],
  ['curl', 'curl', '-s', '-o', '/dev/stdout', `file://${text}`],
  ['git', 'git', 'diff', '--no-index', '--output=/dev/stdout', text, '/dev/null'],
  ['sed', 'sed', '-n', '1,3w /dev/fd/2', text],
];

describe.each(PROGRAMS)('%s', (_, tool, ...words) => {
  it('writes to a socket by its name as to a pipe', (context) => {
    if (!has(tool)) context.skip(`${tool} is not installed`);
    const bare = drive('pipe', [tool, ...words], { bare: true });
    expect(seen(drive('socket', [tool, ...words]))).toEqual(seen(bare));
    expect(bare.code).toBe(tool === 'git' ? 1 : 0); // 1: there was a difference
  });
});

describe('a stream is no socket for who has it', () => {
  const node = process.execPath;
  it.each([
    ['end', `process.stdout.end("a\\n")`],
    [
      'pipeline',
      `require("stream").pipeline(require("fs").createReadStream("${text}"), process.stdout, ` +
        '(error) => console.error(error?.code))',
    ],
  ])('Node ends its own stdout only (%s)', (_, code) => {
    const words = ['sh', '-c', `'${node}' -e '${code}'; echo after; '${node}' -e '${code}' >&2`];
    const bare = drive('pipe', words, { bare: true });
    expect(bare.stdout.toString()).toContain('after\n');
    expect(seen(drive('socket', words))).toEqual(seen(bare));
  });

  it('other sockets can be shut down as ever', () => {
    const code =
      'import socket, os\na, b = socket.socketpair()\n' +
      'a.shutdown(socket.SHUT_WR)\nprint(b.recv(9))\n' +
      'try: socket.socket(fileno=os.dup(a.fileno())).shutdown(9)\nexcept OSError as e: print(e)\n';
    const bare = drive('pipe', ['python3', '-c', code], { bare: true });
    expect(bare.stdout.toString()).toContain("b''\n");
    expect(seen(drive('socket', ['python3', '-c', code]))).toEqual(seen(bare));
  });

  it("another process's stream is opened by its name, with none of one's own", () => {
    const script =
      '(exec >/dev/null 2>&1; echo by name >/proc/$$/fd/1; echo more >>/proc/$$/fd/2); :';
    const bare = drive('pipe', ['bash', '-c', script], { bare: true });
    expect(seen(bare)).toEqual({ code: 0, stdout: 'by name\n', stderr: 'more\n' });
    expect(seen(drive('socket', ['bash', '-c', script]))).toEqual(seen(bare));
  });
});

it.skipIf(noCpp)('a stream of C++ writes to a socket by its name as to a pipe', () => {
  const iostream = program('iostream', 'c++ -O1', 'iostream.cc');
  const bare = drive('pipe', [iostream], { bare: true });
  expect(seen(drive('socket', [iostream]))).toEqual(seen(bare));
  expect(bare.code).toBe(0);
});

const noMusl = lacking(!has('musl-gcc'), 'musl-gcc is not installed');
it.skipIf(noMusl)('musl does, too', () => {
  const reopen = program('reopen', 'musl-gcc -O1');
  const bare = drive('pipe', [reopen], { bare: true });
  expect(seen(bare)).toEqual({ code: 0, stdout: 'open\nfopen\n', stderr: 'freopen\n' });
  expect(seen(drive('socket', [reopen]))).toEqual(seen(bare));
});
