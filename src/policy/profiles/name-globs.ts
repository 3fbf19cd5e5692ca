// Patterns for the names of files that a program looks for by itself: whether one of them is made
// to find secrets. The shell does not expand them, so they are no paths.

import { listOf } from '../facts.ts';
import { globRegex } from '../paths.ts';

/** Names like any other: a pattern that finds these, too, is for everything. */
const ANY_NAMES: readonly string[] = ['zz', 'zz.zz'];

const LENGTH_MAX = 256; // real names are shorter

export function aimsAtSecrets(glob: string): boolean {
  if (glob.length > LENGTH_MAX) return true;
  return choices(glob).some((one) => {
    const names = one.split('/').filter((name) => name !== '' && name !== '**');
    const last = names.at(-1);
    if (last === undefined) return false;
    return (
      finds(last, listOf('secret-names')) ||
      names.some((name) => finds(name, listOf('secret-folders')))
    );
  });
}

/** Whether it finds what makes programs do something; `*.json` does. */
export function aimsAtControls(glob: string): boolean {
  if (glob.length > LENGTH_MAX) return true;
  const names = glob.split('/').filter((name) => name !== '' && name !== '**');
  const last = globRegex(names.at(-1) ?? '*');
  return (
    listOf('control-names').some((sample) => last.test(sample)) ||
    names.some((name) => finds(name, listOf('control-folders')))
  );
}

/** The same of a path that is not for many files: only what could not well be another name. */
export function namesControl(glob: string): boolean {
  if (glob.length > LENGTH_MAX) return true;
  const names = glob.split('/').filter((name) => name !== '');
  return names.some(
    (name) => finds(name, listOf('control-folders')) || finds(name, listOf('startup-names')),
  );
}

function finds(name: string, samples: readonly string[]): boolean {
  const regex = globRegex(name);
  return samples.some((sample) => regex.test(sample)) && !ANY_NAMES.some((any) => regex.test(any));
}

const CHOICES_MAX = 64;

/** `{a,b}.c` is `a.c` and `b.c`, and the same inside of each; too many are cut off unread. */
function choices(glob: string): readonly string[] {
  const done: string[] = [];
  const open = [glob];
  while (done.length + open.length <= CHOICES_MAX) {
    const next = open.pop();
    if (next === undefined) return done;
    const found = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(next);
    if (found === null) done.push(next);
    else {
      const [, before = '', inside = '', behind = ''] = found;
      open.push(...inside.split(',').map((one) => `${before}${one}${behind}`));
    }
  }
  // Of so many one is sure to be meant.
  return ['.env'];
}
