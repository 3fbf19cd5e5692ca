// The cache of the agent programs: a broken download is continued, a tarball with another hash is
// never unpacked, and what is there is not fetched again.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { cacheRoot, fetchProgram, programDirectory } from './cache.ts';
import type { AgentProgram } from './programs.ts';

const root = mkdtempSync(join(tmpdir(), 'cuff-agents-'));

const said: string[] = [];
const say = (line: string) => void said.push(line);

/** The ranges that the registry was asked for, and after how many bytes it hangs up, if it does. */
const asked: (string | undefined)[] = [];
let hangUpAfter: number | undefined;

const tarball = packed('the program\n');
const server = createServer((request, response) => {
  asked.push(request.headers.range);
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const rest = tarball.subarray(from);
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': rest.length });
  if (hangUpAfter === undefined) response.end(rest);
  else response.write(rest.subarray(0, hangUpAfter), () => response.destroy());
  hangUpAfter = undefined;
});

beforeEach(async () => {
  vi.stubEnv('XDG_CACHE_HOME', join(root, 'cache'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => {
  vi.unstubAllEnvs();
  server.close();
  rmSync(join(root, 'cache'), { recursive: true, force: true });
  said.length = 0;
  asked.length = 0;
});

afterAll(() => rmSync(root, { recursive: true }));

function packed(text: string): Buffer {
  mkdirSync(join(root, 'package'));
  writeFileSync(join(root, 'package', 'tool'), text);
  execFileSync('tar', ['-czf', join(root, 'tool.tgz'), '-C', root, 'package']);
  return readFileSync(join(root, 'tool.tgz'));
}

function program(content: Buffer): AgentProgram {
  const sha512 = createHash('sha512').update(content).digest('base64');
  return { package: '@scope/tool', version: '1.2.3', sha512, entry: 'tool' };
}

async function fetched(one: AgentProgram): Promise<void> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tool.tgz`;
  await fetchProgram(one, { say, urlOf: () => url, backoffMs: 1 });
}

it('is filled once, under a name with the version and the hash', async () => {
  const one = program(tarball);
  await fetched(one);
  await fetched(one);
  expect(asked).toEqual([undefined]);
  expect(readFileSync(join(programDirectory(one), 'tool'), 'utf8')).toBe('the program\n');
  expect(readdirSync(cacheRoot())).toEqual([expect.stringMatching(/^tool-1\.2\.3-[0-9a-f]{16}$/)]);
});

it('continues a download that was stopped', async () => {
  const one = program(tarball);
  mkdirSync(cacheRoot(), { recursive: true });
  writeFileSync(`${programDirectory(one)}.part`, tarball.subarray(0, 40));
  await fetched(one);
  expect(asked).toEqual(['bytes=40-']);
  expect(readFileSync(join(programDirectory(one), 'tool'), 'utf8')).toBe('the program\n');
});

it('asks again when the registry hangs up', async () => {
  hangUpAfter = 40;
  const one = program(tarball);
  await fetched(one);
  expect(asked).toHaveLength(2);
  expect(readFileSync(join(programDirectory(one), 'tool'), 'utf8')).toBe('the program\n');
});

it('refuses a tarball that does not have the pinned hash', async () => {
  const other = program(Buffer.from('another tarball'));
  await expect(fetched(other)).rejects.toThrow('does not have the pinned hash');
  expect(asked).toHaveLength(5);
  expect(readdirSync(cacheRoot())).toEqual([]);
});

it('says what the registry does not have, and goes on', async () => {
  const urlOf = (): string => {
    throw new Error('npm error code E404');
  };
  await fetchProgram(program(tarball), { say, urlOf });
  expect(said).toEqual(['agents: the registry has no @scope/tool@1.2.3: skipped']);
  expect(readdirSync(cacheRoot())).toEqual([]);
});
