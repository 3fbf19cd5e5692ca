// What the tests of the gate share: questions as native/trace.h has them, and runs at a gate.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type Gate, type GateOptions, openGate } from '../../src/guard/gate.ts';
import { createShell, type StartOptions } from '../../src/shell/shell.ts';
import type { Command } from '../../src/types.ts';

export const root = mkdtempSync(join(tmpdir(), 'cuff-gate-test-'));
const shell = createShell({ stateRoot: join(root, 'state'), cwd: root, trace: 'on' });
const gates: Gate[] = [];

afterAll(async () => {
  shell.close();
  for (const gate of gates) await gate.close();
  rmSync(root, { recursive: true, force: true });
});

export async function gateWith(
  decide: GateOptions['decide'],
  options: Partial<GateOptions> = {},
): Promise<Gate> {
  const gate = await openGate({ directory: root, strict: false, decide, ...options });
  gates.push(gate);
  return gate;
}

/** As a policy that denies `rm`. */
export const noRm: GateOptions['decide'] = ({ argv }) =>
  argv[0] === 'rm' ? { allow: false, message: 'rm is denied' } : { allow: true };

export const DENIED = 'cuff: policy: rm is denied\n';

export type Judged = {
  readonly code: number | undefined;
  readonly output: string;
  readonly ms: number;
  readonly id: string;
  /** The capture. */
  readonly dir: string;
  readonly cwd: string;
};

let turn = 0;

/** In a directory of its own. */
export function place(): string {
  const cwd = join(root, `w${turn++}`);
  mkdirSync(join(cwd, 'v'), { recursive: true });
  return cwd;
}

export async function judged(text: string | Command, options: StartOptions = {}): Promise<Judged> {
  const cwd = options.cwd ?? place();
  const started = performance.now();
  const run = shell.start(text, { transport: 'merged', ...options, cwd });
  const { outcome } = await run.done;
  const ms = performance.now() - started;
  const { dir } = shell.open(run.id);
  const file = join(dir, 'output.bin');
  const output = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const code = outcome.kind === 'exited' ? outcome.code : undefined;
  return { code, output, ms, id: run.id, dir, cwd };
}

export type Question = {
  readonly argv?: readonly string[];
  readonly exe?: string;
  readonly cwd?: string;
  readonly pid?: number;
  readonly flags?: number;
};

export function question(asked: Question = {}): Buffer {
  const { argv = ['ls'], exe = '/bin/ls', cwd = '/', pid = 7, flags = 0 } = asked;
  const text = Buffer.from([exe, cwd, ...argv].map((word) => `${word}\0`).join(''));
  const head = Buffer.alloc(24);
  const words = [0x47464643, 24 + text.length, pid, flags, argv.length, argv.length];
  for (const [i, word] of words.entries()) head.writeUInt32LE(word, 4 * i);
  return Buffer.concat([head, text]);
}

/** What comes back for these bytes, until the other side closes. */
export function asks(path: string, ...pieces: readonly Uint8Array[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path, allowHalfOpen: true });
    const got: Buffer[] = [];
    socket.on('data', (piece) => got.push(piece));
    socket.on('error', () => {}); // closed before all was sent
    socket.on('close', () => resolve(Buffer.concat(got).toString()));
    socket.on('end', () => socket.end());
    setTimeout(reject, 150_000, new Error('it is still open')).unref();
    const next = (i: number): void => {
      const piece = pieces[i];
      if (piece !== undefined) socket.write(piece, () => setImmediate(next, i + 1));
    };
    socket.on('connect', () => next(0));
  });
}
