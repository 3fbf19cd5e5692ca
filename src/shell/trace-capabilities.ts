// What tracing can do on this machine, and reasons for what it cannot: rows for `cuff doctor`.
// Loaders are asked to load the shim as they would for a program.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findShim } from '../run/shim.ts';
import type { Env } from '../types.ts';
import type { Check } from './capabilities.ts';
import { shimFile, type TraceCheck, traceCheck } from './trace-check.ts';

const TRY_MS = 10_000;

const MUSL: Readonly<Record<string, string>> = {
  x64: '/lib/ld-musl-x86_64.so.1',
  arm64: '/lib/ld-musl-aarch64.so.1',
};

const BITS_32: Readonly<Record<string, string>> = {
  x64: '/lib/ld-linux.so.2',
  arm64: '/lib/ld-linux-armhf.so.3',
};

export function traceChecks(env: Env): readonly Check[] {
  const check = traceCheck(env, { again: true });
  return [tracing(check, env), ...loaders(check, env), ptrace(check), socket(check)];
}

function tracing(check: TraceCheck, env: Env): Check {
  const name = 'tracing';
  if (check.ok) return { name, status: 'ok', value: 'the self-test passed' };
  const unset = ['CUFF_RUNNER', 'CUFF_SHIM'].find((variable) => env[variable] === 'off');
  const hint =
    unset === undefined
      ? 'Commands run untraced; see the rows around this one.'
      : `Unset ${unset} to trace commands.`;
  return { name, status: 'warn', value: `off: ${check.reason}`, hint };
}

function loaders(check: TraceCheck, env: Env): readonly Check[] {
  const shim = findShim(env);
  if (shim.kind === 'none') {
    const unknown = { status: 'warn', value: 'unknown without a shim' } as const;
    return [
      { name: 'shim', status: 'warn', value: `none: ${shim.why}` },
      { name: 'musl', ...unknown },
      { name: '32-bit', ...unknown },
    ];
  }
  // Only the self-test knows whether a shim that exists also works.
  const status = check.ok ? 'ok' : 'warn';
  const dir = check.ok ? check.shimDir : shim.dir;
  const value = check.ok ? dir : `${dir}, not used`;
  return [{ name: 'shim', status, value }, musl(dir), bits32(dir)];
}

function musl(dir: string): Check {
  const name = 'musl';
  const loader = MUSL[process.arch] ?? '';
  if (!existsSync(loader)) return { name, status: 'ok', value: 'no such programs here' };
  const { status, stderr } = spawnSync(loader, ['--list', shimFile(dir)], TRYING);
  if (status === 0 && stderr === '') return { name, status: 'ok', value: `${loader} loads it` };
  return { name, status: 'warn', value: `${loader} does not load it`, hint: firstLine(stderr) };
}

/** Such programs are not traced, but the loader must not warn about it. */
function bits32(dir: string): Check {
  const name = '32-bit';
  const loader = BITS_32[process.arch] ?? '';
  if (!existsSync(loader)) return { name, status: 'ok', value: 'no such programs here' };
  const env = { LD_PRELOAD: shimFile(dir) };
  const { error, stderr } = spawnSync(loader, ['--list', loader], { ...TRYING, env });
  if (error !== undefined) return { name, status: 'ok', value: 'no such programs run here' };
  if (stderr === '') return { name, status: 'ok', value: `${loader} loads a stub` };
  return { name, status: 'warn', value: `${loader} complains`, hint: firstLine(stderr) };
}

const TRYING = { encoding: 'utf8', timeout: TRY_MS, env: {} } as const;

function firstLine(text: string): string {
  return text.split('\n')[0] || 'It said nothing.';
}

const UNKNOWN = { status: 'warn', value: 'unknown while tracing is off' } as const;

function ptrace(check: TraceCheck): Check {
  const name = 'ptrace';
  if (!check.ok) return { name, ...UNKNOWN };
  if (check.follows) return { name, status: 'ok', value: 'static programs are followed' };
  // Without CAP_SYS_PTRACE a followed program could not start set-user-ID programs.
  const value = 'static programs are known from who started them (no CAP_SYS_PTRACE)';
  return { name, status: 'ok', value };
}

function socket(check: TraceCheck): Check {
  const name = 'socket';
  if (!check.ok) return { name, ...UNKNOWN };
  return { name, status: 'ok', value: 'the kernel says who wrote what' };
}
