// Whether there is a ledger, and opening it. `seal.enabled: false` turns it off, and counts in the
// user's own settings alone: a project cannot say that nothing vouches for what is done in it.

import { settingsCandidates } from '../places.ts';
import { readRegular } from '../trust/bounded-read.ts';
import type { Env } from '../types.ts';
import { Ledger, type LedgerOptions } from './ledger.ts';

const FILE_BYTES_MAX = 256 * 1024; // as much as settings may have

// The two ways to write it. Every command of an agent's shell comes here, and the reader of YAML is
// larger than all else that such a command loads; what is written in a third way turns nothing off.
const OTHERS = String.raw`(?:[ \t]*(?:#.*|[ \t]anchor:.*|- .*)?\r?\n)*`;
const BLOCK = new RegExp(
  String.raw`^seal:[ \t]*(?:#.*)?\r?\n${OTHERS}[ \t]+enabled:[ \t]*false[ \t]*(?:#.*)?$`,
  'm',
);
const FLOW = /^seal:[ \t]*\{[ \t]*enabled:[ \t]*false[ \t]*\}[ \t]*(?:#.*)?$/m;

/** Undefined where the user wants none. Nothing is made until there is something to seal. */
export function openLedger(
  options: LedgerOptions & { readonly cwd: string; readonly env: Env },
): Ledger | undefined {
  const { cwd, env, ...more } = options;
  return sealWanted(cwd, env) ? new Ledger(more) : undefined;
}

/** What the user's own settings say. A file that cannot be read says nothing. Never throws. */
export function sealWanted(cwd: string, env: Env): boolean {
  return !settingsCandidates(cwd, env).some(({ own, path }) => own && turnsOff(textOf(path)));
}

export function turnsOff(settings: string): boolean {
  return BLOCK.test(settings) || FLOW.test(settings);
}

function textOf(path: string): string {
  try {
    return Buffer.from(readRegular(path, FILE_BYTES_MAX) ?? []).toString('utf8');
  } catch {
    return ''; // there is none, or none that we may read
  }
}
