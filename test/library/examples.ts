// The examples as a reader would run them: compiled to JavaScript, started by Node, with the built
// package as `cuff` and a stand-in for the API they talk to.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { onTestFinished } from 'vitest';
import { home } from './home.ts';

export const ROOT = join(import.meta.dirname, '..', '..');

type Json = Record<string, unknown>;

/** What came to the stand-in. */
export type Asked = { readonly path: string; readonly body: Json };

/** Answers the requests one by one, and keeps what they said. */
export async function standIn(...answers: readonly ((asked: Asked) => Json)[]) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const one = { path: request.url ?? '', body: JSON.parse(Buffer.concat(pieces).toString()) };
    const answer = answers[asked.push(one) - 1];
    response.writeHead(answer === undefined ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer?.(one) ?? { error: { message: 'nothing is left to say' } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'none',
  };
  return { asked, env };
}

export type Ran = {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly dir: string;
};

/** Runs `examples/NAME.ts`, or a driver of `test/fixtures` that gets its path. */
export async function runExample(
  name: string,
  env: Readonly<Record<string, string>> = {},
  driver?: string,
): Promise<Ran> {
  const { dir, options } = home();
  const source = readFileSync(join(ROOT, 'examples', `${name}.ts`), 'utf8');
  const { code: text } = await transform(source, { loader: 'ts', target: 'node20' });
  // In the package, where `cuff` is the package itself; out of sight of the build.
  const folder = mkdtempSync(join(ROOT, 'dist', '.example-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, text);
  const words = driver === undefined ? [file] : [join(ROOT, 'test/fixtures', driver), file];
  const child = spawn(process.execPath, words, {
    cwd: dir,
    env: { ...process.env, CUFF_STATE_ROOT: options.stateRoot, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => {
    out += piece;
  });
  child.stderr.on('data', (piece: Buffer) => {
    err += piece;
  });
  const [code] = await once(child, 'close');
  return { code, out, err, dir };
}
