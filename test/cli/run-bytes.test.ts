// The bytes of a run: complete, unchanged, in order, and out of the command's reach.
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { binary, Cli } from './helper.ts';

const cli = new Cli();
afterAll(() => cli.close());

const derun = [process.execPath, binary('derun'), 'run', '--session-id'];

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest('hex');
}

test.each([
  ['pipe', '', '2>/dev/null'],
  ['merged', '2>&1', ''],
])('100 MB of random bytes through %s are equal on disk and as forwarded', async (id, to) => {
  const file = join(cli.root, 'random');
  const make = cli.start(['bash', '-c', `head -c 100000000 /dev/urandom > ${file}`]);
  await make.result;
  // The shell in front makes stdout and stderr one pipe for `merged`.
  const line = `"$@" ${to} | sha256sum`;
  const live = cli.start(['bash', '-c', line, 'bash', ...derun, id, '--', 'cat', file]);
  const forwarded = (await live.result).out.slice(0, 64);
  const expected = await sha256(file);
  expect(forwarded).toBe(expected);
  expect(await sha256(join(cli.dir(id), 'output.bin'))).toBe(expected);
});

test('the index grows with the data and covers every byte once, in order', async () => {
  const text = 'for i in {1..300}; do echo out $i; echo err $i >&2; done';
  await cli.run('index', 'bash', '-c', text);
  const lines = readFileSync(join(cli.dir('index'), 'index.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const output = readFileSync(join(cli.dir('index'), 'output.bin'));
  const streams = { stdout: '', stderr: '' };
  let offset = 0;
  for (const line of lines) {
    const record = JSON.parse(line);
    expect(record.offset).toBe(offset);
    const piece = output.subarray(offset, offset + record.length).toString();
    expect(record.lines).toBe(piece.split('\n').length - 1);
    streams[record.channel as 'stdout' | 'stderr'] += piece;
    offset += record.length;
  }
  expect(offset).toBe(output.length);
  const expected = (word: string): string =>
    Array.from({ length: 300 }, (_, i) => `${word} ${i + 1}\n`).join('');
  expect(streams).toEqual({ stdout: expected('out'), stderr: expected('err') });
});

test('stdout and stderr into one file keep the order in which they were written', async () => {
  const file = join(cli.root, 'both');
  const text = 'for i in {1..500}; do echo out $i; echo err $i >&2; done';
  const line = `"$@" > ${file} 2>&1`;
  await cli.start(['bash', '-c', line, 'bash', ...derun, 'both', '--', 'bash', '-c', text]).result;
  const expected = Array.from({ length: 500 }, (_, i) => `out ${i + 1}\nerr ${i + 1}\n`).join('');
  expect(readFileSync(file, 'utf8')).toBe(expected);
  expect(readFileSync(join(cli.dir('both'), 'output.bin'), 'utf8')).toBe(expected);
});

test('output appended to a file does not overwrite what is there', async () => {
  const file = join(cli.root, 'log');
  writeFileSync(file, 'before\n');
  const line = `{ echo first; "$@"; echo last; } >> ${file}`;
  await cli.start(['bash', '-c', line, 'bash', ...derun, 'append', '--', 'echo', 'middle']).result;
  expect(readFileSync(file, 'utf8')).toBe('before\nfirst\nmiddle\nlast\n');
});

test('/dev/stdout and /dev/stderr work, and nothing captured can be taken back', async () => {
  const python = 'open("/dev/stdout","w").write("from python\\n")';
  const text = [
    'echo x > /dev/stdout',
    'echo y | tee /dev/stderr',
    `python3 -c '${python}'`,
    ': > /dev/stdout',
    'truncate -s0 /proc/self/fd/1',
    'echo end',
  ].join('; ');
  const ended = await cli.run('dev', 'bash', '-c', text);
  expect(ended.out).toBe('x\ny\nfrom python\nend\n');
  expect(ended.err.startsWith('y\n')).toBe(true);
  const kept = readFileSync(join(cli.dir('dev'), 'output.bin'), 'utf8');
  for (const word of ['x\n', 'y\n', 'from python\n', 'end\n']) expect(kept).toContain(word);
  expect(kept.length).toBe(ended.out.length + ended.err.length);
});

test('`derun run | head -1` ends like the bare command and has a final.json', async () => {
  const line = 'set -o pipefail; "$@" | head -1; echo $?';
  const words = ['bash', '-c', line, 'bash', ...derun, 'head', '--', 'yes'];
  expect((await cli.start(words).result).out).toBe('y\n141\n');
  const final = JSON.parse(readFileSync(join(cli.dir('head'), 'final.json'), 'utf8'));
  expect(final).toMatchObject({ state: 'signaled', signal: 'SIGPIPE', ended_by: 'itself' });
});

test('a reader sees the end as soon as the command closes its stdout', async () => {
  const line = '"$@" | { cat; echo cat is done; kill $(cat pid); }';
  const text = 'echo $$ > pid; echo hi; exec >&- 2>&-; exec sleep 100';
  const words = ['bash', '-c', `cd ${cli.root}; ${line}`, 'bash', ...derun, 'early', '--'];
  const ended = await cli.start([...words, 'bash', '-c', text]).result;
  expect(ended.out).toBe('hi\ncat is done\n');
});

test('a 10 MB line, NULs and broken UTF-8 pass as they are', async () => {
  const file = join(cli.root, 'odd');
  const odd = Buffer.concat([
    Buffer.alloc(10_000_000, 'a'),
    Buffer.from([0, 0, 0xff, 0xfe, 0xc3, 10, 0xe2, 0x82]),
  ]);
  writeFileSync(file, odd);
  const ended = await cli.run('odd', 'cat', file);
  expect(ended.stdout.equals(odd)).toBe(true);
  expect(readFileSync(join(cli.dir('odd'), 'output.bin')).equals(odd)).toBe(true);
});
