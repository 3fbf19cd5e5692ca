// Rules for words in the sources: sentences name their actor, and types are named by nouns.

type Files = ReadonlyMap<string, string>;

/**
 * How often the sources may say a word that hides the actor, besides `VAGUE_ALLOWED`. It must only
 * fall: where a sentence names the runner, the caller or the client, take one off. 30 is the aim.
 */
const VAGUE_MAX = 24;

const VAGUE = /\b(nobody|somebody|whoever)\b/gi;

/** Words of answers that callers may compare: by file, how many of them, and which. */
const VAGUE_ALLOWED: Readonly<Record<string, readonly [count: number, why: string]>> = {
  'src/agent/report.ts': [1, 'the answer about a run whose runner was killed'],
  'src/dialects/bash_recorder/words.ts': [1, 'the notice about a command that was interrupted'],
  'src/dialects/phoenix_bash/tools.ts': [1, 'the words of a setting in the published schema'],
};

/** More such words than `max` allows, and places that are allowed more than they have. */
export function vagueActors(
  files: Files,
  max = VAGUE_MAX,
  allowed: typeof VAGUE_ALLOWED = VAGUE_ALLOWED,
): string[] {
  const counts = new Map(
    [...files]
      .filter(([file]) => /^(src|native)\//.test(file))
      .map(([file, text]) => [file, text.match(VAGUE)?.length ?? 0]),
  );
  const free = ([file, [count]]: [string, readonly [number, string]]) =>
    (counts.get(file) ?? 0) < count
      ? [`${file}: is allowed ${count} and has fewer; take it out of VAGUE_ALLOWED`]
      : [];
  const stale = Object.entries(allowed).flatMap(free);
  const counted = [...counts].map(
    ([file, count]) => [file, count - (allowed[file]?.[0] ?? 0)] as const,
  );
  const total = counted.reduce((sum, [, count]) => sum + count, 0);
  if (total <= max) return stale;
  const most = counted.toSorted(([, a], [, b]) => b - a).slice(0, 5);
  const where = most.map(([file, count]) => `${file} ${count}`).join(', ');
  return [
    ...stale,
    `${total} times nobody, somebody or whoever, at most ${max}: name the actor. Most: ${where}`,
  ];
}

/** Past participles that do not end in `ed`. */
const IRREGULAR = new Set(
  (
    'Begun Bent Bought Bound Broken Brought Built Caught Chosen Cut Done Drawn Driven ' +
    'Fallen Felt Forgotten Fought Found Given Gone Grown Heard Held Hidden Hit Kept Known ' +
    'Laid Led Left Lent Lost Made Meant Met Paid Put Ran Said Sat Seen Sent Set Shown Shut ' +
    'Sold Spent Spoken Stood Struck Stuck Swept Taken Taught Thought Thrown Told Took Torn ' +
    'Understood Won Worn Written'
  ).split(' '),
);

/** Nouns that look like participles. */
const NOUNS = new Set(['Cut', 'Feed', 'Hit', 'Need', 'PathSet', 'Seed', 'Set', 'Shed', 'Speed']);

/** Exported types that are called by a participle. It must only get shorter. */
const PARTICIPLES_ALLOWED: readonly string[] = [
  'Ended', // one of the three results on the way of a command, and part of the library
  'Assigned',
  'Attached',
  'Compiled',
  'Counted',
  'Exited',
  'Followed',
  'Found',
  'HoleMoved',
  'Judged',
  'Launched',
  'Peeled',
  'Redirected',
  'Resolved',
  'Sent',
  'Tested',
  'Wanted',
  'Written',
];

/** Exported types whose last word is a participle: `Permission`, not `Ruled`. */
export function participleTypes(
  files: Files,
  allowed: readonly string[] = PARTICIPLES_ALLOWED,
): string[] {
  const found = [...files]
    .filter(([file]) => file.startsWith('src/'))
    .flatMap(([file, text]) => exportedTypes(text).map((name) => ({ file, name })))
    .filter(({ name }) => isParticiple(name));
  const there = new Set(found.map(({ name }) => name));
  return [
    ...found
      .filter(({ name }) => !allowed.includes(name))
      .map(({ file, name }) => `${file}: the type ${name} is called by a participle; use a noun`),
    ...allowed
      .filter((name) => !there.has(name))
      .map((name) => `${name}: there is no such type; take it out of PARTICIPLES_ALLOWED`),
  ];
}

function exportedTypes(text: string): string[] {
  const declared = /^export (?:declare )?(?:abstract )?(?:type|interface|class) ([A-Z]\w*)/gm;
  return [...text.matchAll(declared)].map(([, name = '']) => name);
}

function isParticiple(name: string): boolean {
  const last = name.match(/[A-Z][a-z0-9]*$/)?.[0] ?? name;
  if (NOUNS.has(name) || NOUNS.has(last)) return false;
  return last.endsWith('ed') || IRREGULAR.has(last);
}
