// Whether a wildcard that the shell expands could name a protected file, in whatever directory
// that is. A wildcard means many names: it counts only where it means the protected one rather than
// those beside it, so `src/*.ts` and `docs/s*` are none of them.

import { listOf } from './facts.ts';
import { globRegex } from './paths.ts';

/** `web/.e*`, `certs/server.pe?`, `sub/.ss?/x`. */
export function wildSecret(glob: string): boolean {
  const names = namesOf(glob);
  if (names === undefined) return true;
  const last = names.at(-1);
  const file = (list: readonly string[], others: Others): boolean =>
    last?.wild === true && list.some((name) => means(last, name, others));
  return (
    file(listOf('secret-names'), byEnding) ||
    file(secretFiles(), byBoth) ||
    listOf('secret-folders').some((folder) => reaches(names, [folder], byEnding)) ||
    reaches(names, ['.git', 'config'], byEnding)
  );
}

/** `web/.[g]it/config`, `node_modules/.b?n/x`. */
export function wildControl(glob: string): boolean {
  const names = namesOf(glob);
  return names === undefined || plainControls().some((sample) => reaches(names, sample, byStart));
}

/** `sub/CLAUD?.md`. */
export function wildSteering(glob: string): boolean {
  const names = namesOf(glob);
  if (names === undefined) return true;
  return steering().some((sample) => reaches(names, sample, byStart));
}

/** Those that have one name of their own: `wp-config.php`. */
const secretFiles = remembered((): readonly string[] => {
  const named = listOf('secrets').map(behindStars);
  return [...named.filter((name) => !/[*?[~/]/.test(name)), ...listOf('telling-names')];
});

const plainControls = remembered((): readonly (readonly string[])[] => {
  const named = listOf('controls').map(behindStars);
  return named.filter((name) => !/[*?[~]/.test(name)).map((name) => name.split('/'));
});

const steering = remembered((): readonly (readonly string[])[] =>
  listOf('steering').map((name) => name.split('/')),
);

function behindStars(glob: string): string {
  return glob.replace(/^\*\*\//, '');
}

function remembered<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

type Name = { readonly wild: boolean; readonly fits: (name: string) => boolean };

const NAMES_MAX = 64; // of one path; no real one is deeper
const LENGTH_MAX = 255; // of a name, on every disk that there is

/** Undefined: no person writes such a path. */
function namesOf(glob: string): readonly Name[] | undefined {
  const all = glob.split('/').filter((name) => name !== '');
  const names = all.slice(-NAMES_MAX);
  if (names.some((name) => name.length > LENGTH_MAX && WILD.test(name))) return undefined;
  return names.map(nameOf);
}

const WILD = /[*?[]/;

function nameOf(text: string): Name {
  if (!WILD.test(text)) return { wild: false, fits: (name) => name === text.replace(/\\/g, '') };
  const hidden = /^\\?\./.test(text);
  let regex: RegExp | undefined;
  const fits = (name: string): boolean => {
    // A wildcard does not match a dot at the start of a name.
    if (name.startsWith('.') && !hidden) return false;
    regex ??= globRegex(text);
    return regex.test(name);
  };
  return { wild: true, fits };
}

/** Whether these names stand in it one after the other, one of them at least by a wildcard. */
function reaches(names: readonly Name[], sample: readonly string[], others: Others): boolean {
  return names.some((_, start) => {
    const here = names.slice(start, start + sample.length);
    if (here.length < sample.length || !here.some(({ wild }) => wild)) return false;
    // Where the first name is clear, a star behind it means what is there.
    return here.every((name, at) => means(name, sample[at] ?? '', at === 0 ? others : none));
  });
}

function means(name: Name, sample: string, others: Others): boolean {
  return name.fits(sample) && !others(sample).some(name.fits);
}

/** Names that are not protected, and that a wildcard for many files matches, too. */
type Others = (sample: string) => readonly string[];

const none: Others = () => [];

/** A secret is known by its ending: `server.zz` and `server.pz` are none. */
const byEnding: Others = (sample) => {
  if (sample.startsWith('.')) return [];
  const [, stem = sample, mark = '', end = ''] = /^([^._]*)([._])(.)/.exec(sample) ?? [];
  const near = mark === '.' ? [`${stem}.${end}z`] : [];
  return ['zz', `${stem}zz`, `${stem}.zz`, ...near];
};

/** What makes programs do something, by how its name begins. */
const byStart: Others = (sample) => {
  if (sample.startsWith('.')) return [];
  const end = /\.\w+$/.exec(sample)?.[0] ?? '';
  return ['zz', `zz${end}`, `${sample.slice(0, 2)}zz`, `${sample.slice(0, 2)}zz${end}`];
};

const byBoth: Others = (sample) => [...byEnding(sample), ...byStart(sample)];
