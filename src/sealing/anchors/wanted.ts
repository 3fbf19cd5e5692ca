// Which anchors the user wants: `seal.anchor`, a list, in the user's own settings. A project's does
// not count, because it would start programs and send where it says; it gets a notice. Without the
// key the system's log is used if there is one.

import { existsSync } from 'node:fs';
import { settingsCandidates } from '../../places.ts';
import { asObject } from '../../text/json.ts';
import { printable } from '../../text/printable.ts';
import { readRegular } from '../../trust/bounded-read.ts';
import { keysOfFile } from '../../trust/keys.ts';
import { hasSyslog } from './lines.ts';
import type { AnchorTools } from './place.ts';
import { type AnchorTarget, readTarget } from './target.ts';

const FILE_BYTES_MAX = 256 * 1024; // as much as settings may have

export type WantedAnchors = {
  readonly targets: readonly AnchorTarget[];
  /** Sentences: what was said and does not count. */
  readonly notices: readonly string[];
};

/** Never rejects: what cannot be read says nothing, but for a notice. */
export async function wantedAnchors(
  tools: Pick<AnchorTools, 'env' | 'project' | 'syslog'>,
): Promise<WantedAnchors> {
  const { project, env } = tools;
  const candidates = settingsCandidates(project, env).filter(({ path }) => existsSync(path));
  const foreign = candidates.filter(({ own, path }) => !own && namesAnchors(path));
  const notices = foreign.map(
    ({ path }) =>
      `seal.anchor in ${printable(path)} is ignored: only your own settings name anchors.`,
  );
  for (const { own, path } of candidates) {
    const said = own ? await saidIn(path, tools) : undefined;
    if (said === undefined) continue;
    return { targets: said.targets, notices: [...notices, ...said.notices] };
  }
  return { targets: hasSyslog(tools) ? [{ kind: 'journal', where: '' }] : [], notices };
}

function namesAnchors(path: string): boolean {
  return keysOfFile(path)?.some((key) => /(?:^|\.)seal\.anchor$/.test(key)) === true;
}

/** Undefined where the file does not have the key. */
async function saidIn(
  path: string,
  { env }: Pick<AnchorTools, 'env'>,
): Promise<WantedAnchors | undefined> {
  let text: string;
  try {
    text = readRegular(path, FILE_BYTES_MAX)?.toString('utf8') ?? '';
  } catch {
    return undefined; // loading the settings says why it cannot be read
  }
  if (!text.includes('anchor')) return undefined;
  const { plain, readYaml } = await import('../../text/yaml.ts');
  const { root } = readYaml(text, env);
  const said = asObject(asObject(root && plain(root))?.seal)?.anchor;
  if (said === undefined || said === null) return undefined;
  const readings = (Array.isArray(said) ? said : [said]).map((one) => ({
    one: printable(String(one)),
    reading: readTarget(typeof one === 'string' ? one : ''),
  }));
  return {
    targets: readings.flatMap(({ reading }) => ('target' in reading ? [reading.target] : [])),
    notices: readings.flatMap(({ one, reading }) =>
      'problem' in reading
        ? [`${printable(path)}: seal.anchor: '${one}': ${reading.problem}.`]
        : [],
    ),
  };
}
