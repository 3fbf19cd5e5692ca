// `npm run test:agents`: fetches the pinned agent programs, then runs their tests in a network
// namespace that has nothing but loopback, so that no telemetry can leave. Where the system gives
// none, it says so and runs them all the same. Arguments are vitest's.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { say } from './tools.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Ways into a namespace: as root, or as a user who is root in it. */
const WAYS = [
  ['unshare', '--net'],
  ['unshare', '--net', '--map-root-user'],
];

/** What `ip link set lo up` does, with a program that the tests need anyway. */
const LOOPBACK_UP = [
  'import fcntl, socket, struct',
  "flags = struct.pack('16sh22x', b'lo', 0x1 | 0x40)  # IFF_UP | IFF_RUNNING",
  'fcntl.ioctl(socket.socket(), 0x8914, flags)  # SIOCSIFFLAGS',
].join('\n');

if (`${process.platform}-${process.arch}` === 'linux-x64') {
  await fetchPrograms();
  process.exitCode = runTests();
} else {
  say('agents: the pinned programs are those for Linux on x64; nothing was run.');
}

function runTests() {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const tests = [process.execPath, vitest, 'run', '--mode', 'agents', ...process.argv.slice(2)];
  const [file, ...args] = [...isolation(), ...tests];
  return spawnSync(file, args, { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
}

/** The table of the programs is TypeScript, which Node 20 does not read by itself. */
async function fetchPrograms() {
  const scratch = mkdtempSync(join(tmpdir(), 'cuff-agents-'));
  try {
    const outfile = join(scratch, 'fetch.mjs');
    const entryPoints = [join(ROOT, 'test', 'agents', 'fetch.ts')];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm' });
    const { fetchPrograms } = await import(pathToFileURL(outfile).href);
    await fetchPrograms(say);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function isolation() {
  const up = ['sh', '-c', 'python3 -c "$0" && exec "$@"', LOOPBACK_UP];
  for (const way of WAYS) {
    const [file, ...args] = [...way, ...up, 'true'];
    if (spawnSync(file, args, { stdio: 'ignore' }).status === 0) return [...way, ...up];
  }
  say('agents: no network namespace here; the programs are told to send nothing, no more.');
  return [];
}
