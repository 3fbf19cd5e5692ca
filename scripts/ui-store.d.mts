import type { SpawnSyncOptions } from 'node:child_process';

export const CUFF: string;
export const HOSTILE: readonly string[];

export type Store = {
  readonly root: string;
  readonly project: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
};

export type FilledStore = Store & {
  /** The session in the journal that the runs are of. */
  readonly session: string;
  readonly runs: Readonly<Record<'colours' | 'traced' | 'log' | 'hostile' | 'terminal', string>>;
};

export function storeAt(root: string): Store;
export function fillStore(root: string, size?: { readonly lines?: number }): Promise<FilledStore>;
export function cuff(
  store: Store,
  args: readonly string[],
  options?: SpawnSyncOptions,
): { readonly code: number | null; readonly stdout: string; readonly stderr: string };
