// Which parts of the policies count. Beside a policy of the user or of the system, a policy that
// came with the project and was not trusted only tightens: its rules that allow would turn an ask
// of the user's into an allow. Alone it counts as it is, because without it everything may run.

import { isThere } from '../places.ts';
import type { LoadedPolicy } from '../policy/policy.ts';
import { openingParts, strictPart, withoutAnswers } from '../policy/strict-part.ts';
import { printable } from '../text/printable.ts';
import { hashOf, trustIn } from '../trust/list.ts';
import { nameOf } from '../trust/settings.ts';
import type { Env } from '../types.ts';
import type { PolicyPlace } from './places.ts';

export type PolicyText = {
  readonly place: PolicyPlace;
  readonly text: string;
  readonly loaded: LoadedPolicy;
  /** It counts as trusted, whatever is listed. */
  readonly trusted?: boolean;
};

export type CountingPolicies = {
  readonly policies: readonly LoadedPolicy[];
  /** One sentence for each file of which a part waits. */
  readonly waiting: readonly string[];
};

type Where = {
  readonly project: string;
  readonly env: Env;
  /** A person said for this process that everything in the project counts. */
  readonly trusted?: boolean | undefined;
};

/** `places` are all places that are looked at, also those whose file is wrong. */
export function countingPolicies(
  given: readonly PolicyText[],
  places: readonly PolicyPlace[],
  where: Where,
): CountingPolicies {
  const files = given.map((file) =>
    file.place.guest === true ? { ...file, loaded: withoutAnswers(file.loaded) } : file,
  );
  if (where.trusted === true || !files.some(({ place }) => place.guest)) {
    return { policies: files.map(({ loaded }) => loaded), waiting: [] };
  }
  const judged = files.map((file) => ({ ...file, counts: counts(file, where) }));
  // A file that is gone may still be in force, and one that is wrong may deny.
  const hosts =
    places.some(({ guest, named, path }) => guest !== true && (named || isThere(path))) ||
    judged.some(({ place, counts: whole }) => place.guest !== true || (place.named && whole));
  const waiting: string[] = [];
  const policies = judged.map(({ loaded, place, counts: whole }) => {
    // Which programs are trusted is a person's word, also where no other policy stands beside it.
    if (whole || (!hosts && loaded.policy.programs.length === 0)) return loaded;
    const policy = hosts ? strictPart(loaded.policy) : { ...loaded.policy, programs: [] };
    const parts = hosts ? openingParts(loaded.policy) : ['programs'];
    if (parts.length > 0)
      waiting.push(sentence(nameOf(where.project, place.path), place.named, parts));
    return { ...loaded, policy };
  });
  return { policies, waiting };
}

/** Whether a person trusted the file with this text. */
export function isTrustedPolicy(path: string, text: string, { project, env }: Where): boolean {
  const known = trustIn(project, env).trusted?.files[nameOf(project, path)];
  return known !== undefined && known === hashOf(text);
}

function counts({ place, text, trusted }: PolicyText, where: Where): boolean {
  return place.guest !== true || trusted === true || isTrustedPolicy(place.path, text, where);
}

function sentence(file: string, named: boolean, parts: readonly string[]): string {
  const shown = printable(file);
  const command = named ? `CUFF_POLICY=${shown} cuff trust` : 'cuff trust';
  const what = `Parts of the project's policy in ${shown} wait for a person to run`;
  const waiting = `${what} \`${command}\`: ${parts.join(', ')}`;
  return `${waiting}; what it denies, asks about and protects is in force.`;
}
