// Errors that come out of a plugin when nobody is waiting for it. They would end a Node process, so
// each is tried in a process of its own, which must live and say whose the error was.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'cuff-strays-'));

const SERVER = `
import { createHost } from './src/host/host.ts';
import { loadSettings } from './src/host/settings.ts';
import { writeFileSync } from 'node:fs';
const [, , module, whose] = process.argv;
const plugins = { bad: { module, config: { a: 1 } } };
writeFileSync(module + '.yml', JSON.stringify({ plugins }));
const settings = await loadSettings({ cwd: '/', env: {}, file: module + '.yml', builtins: {} });
const services = { env: {}, log: () => {}, now: Date.now, shell() {} };
const host = await createHost({ settings, builtins: {}, services });
const context = { meta: {}, signal: new AbortController().signal };
await host.call('bad_go', {}, context);
if (whose === 'house') setTimeout(() => { throw new Error('a fault of the house'); });
const deadline = Date.now() + 120_000;
let reasons = [];
while (reasons.length === 0 && Date.now() < deadline) {
  await new Promise((resolve) => setTimeout(resolve, 5));
  ({ reasons } = await host.health());
}
const { text } = await host.call('bad_go', { again: true }, context);
process.stdout.write(JSON.stringify({ reasons, text }));
await host.close();
process.exit(0);
`;

const plugin = (body: string, top: string) => `
import { EventEmitter } from 'node:events';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs';
${top}
export default class {
  static checkConfig() { return []; }
  async initialize() {}
  async shutdown() {}
  async healthCheck() { return { healthy: true, reasons: [] }; }
  async onConfigReload() {}
  getTools() { return [{ name: 'go', description: 'goes', parameters: { type: 'object' } }]; }
  async callTool(name, { again }) {
    if (!again) { ${body} }
    return { success: true, text: 'alive' };
  }
}`;

beforeAll(async () => {
  const contents = SERVER;
  const outfile = join(folder, 'server.mjs');
  const stdin = { contents, resolveDir: ROOT, loader: 'ts' as const };
  const banner = `import { createRequire } from 'node:module';
    const require = createRequire(import.meta.url);`;
  await build({
    stdin,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: banner },
    logLevel: 'error',
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(body: string, top = '', ...args: string[]) {
  // A name that would go wrong if it were pasted into a URL.
  const file = join(folder, `a #1 %41? ${Math.random()}.mjs`);
  writeFileSync(file, plugin(body, top));
  const child = spawn(process.execPath, [join(folder, 'server.mjs'), file, ...args]);
  let [out, err] = ['', ''];
  child.stdout.on('data', (piece) => {
    out += piece;
  });
  child.stderr.on('data', (piece) => {
    err += piece;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
}

const CALLBACK = 'bad: an error came out of a callback: ';
const REJECTED = 'bad: a promise without a handler was rejected: ';

describe('an error that nobody waits for does not end the server:', () => {
  it.each([
    ['a timer', 'setTimeout(() => { throw new Error("boom") }, 1)', `${CALLBACK}boom`],
    ['the next turn', 'setImmediate(() => { throw new Error("boom") })', `${CALLBACK}boom`],
    ['the next tick', 'process.nextTick(() => { throw new Error("boom") })', `${CALLBACK}boom`],
    ['a promise', 'Promise.reject(new Error("boom"))', `${REJECTED}boom`],
    ['an async function', '(async () => { await 1; throw "boom" })()', `${REJECTED}boom`],
    [
      'a promise made by a timer',
      'setTimeout(() => Promise.reject(new Error("boom")), 1)',
      `${REJECTED}boom`,
    ],
    [
      'an event without listener',
      'const e = new EventEmitter(); setTimeout(() => e.emit("error", new Error("boom")), 1)',
      `${CALLBACK}boom`,
    ],
    ['a program that is not there', 'spawn("/no/such")', `${CALLBACK}spawn /no/such ENOENT`],
    ['a file', 'readFile("/", () => { throw new Error("boom") })', `${CALLBACK}boom`],
  ])('%s', async (_, body, reason) => {
    const { code, out, err } = await run(body);
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toEqual({ reasons: [reason], text: 'alive' });
  });

  it('a module that does it all by itself, before it is a plugin', async () => {
    const { code, out, err } = await run('', 'setTimeout(() => { throw new Error("boom") }, 50)');
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toEqual({ reasons: [`${CALLBACK}boom`], text: 'alive' });
  });

  it('but a fault of the house does', async () => {
    const { code, out, err } = await run('', '', 'house');
    expect([code, out]).toEqual([7, '']);
    expect(err).toContain('Error: a fault of the house');
  });
});
