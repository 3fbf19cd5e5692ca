// How much room captures that are kept for their entries may take: `captures.budget` in the user's
// own settings. A project cannot say how much of what is recorded in it is kept.
import { settingsCandidates } from '../places.ts';
import { asObject } from '../text/json.ts';
import { parseSize } from '../text/size.ts';
import { plain, readYaml } from '../text/yaml.ts';
import { readRegular } from '../trust/bounded-read.ts';
import type { Env } from '../types.ts';

const BUDGET_BYTES_DEFAULT = 2 * 1024 * 1024 * 1024;

const FILE_BYTES_MAX = 256 * 1024; // as much as settings may have

/** A file that is wrong, or cannot be read, says nothing. Never throws. */
export function captureBudget(cwd: string, env: Env): number {
  const own = settingsCandidates(cwd, env).filter((file) => file.own);
  const said = own.map(({ path }) => budgetIn(textOf(path), env));
  return said.find((bytes) => bytes !== undefined) ?? BUDGET_BYTES_DEFAULT;
}

function budgetIn(text: string, env: Env): number | undefined {
  if (!text.includes('budget')) return undefined;
  const { root } = readYaml(text, env);
  const captures = asObject(asObject(root && plain(root))?.captures);
  return parseSize(captures?.budget);
}

function textOf(path: string): string {
  try {
    return Buffer.from(readRegular(path, FILE_BYTES_MAX) ?? []).toString('utf8');
  } catch {
    return ''; // there is none, or none that we may read
  }
}
