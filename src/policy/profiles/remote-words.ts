// Words that look like files or names and lead to another machine: the archive of `tar` can be
// `host:file`, a directory of kustomize a repository, and a repository of `gh` can name its host,
// as an image of docker can.

import { type Judged, part, shown, type Text } from './word-parts.ts';

export type Elsewhere = 'archive' | 'kustomization' | 'repo' | 'endpoint' | 'image';

export function elsewhere(word: Elsewhere, text: Text): readonly Judged[] {
  const role = HERE[word];
  const seen = text.value ?? text.prefix;
  if (seen.length < LENGTH_MAX && !LEADS[word](seen)) return [part(role, text)];
  const scheme = word === 'image' ? 'https' : 'ssh';
  const value = /^[a-z][a-z0-9+.-]*:\/\//i.test(seen) ? seen : `${scheme}://${seen}`;
  const why = `${shown(text)} is on another machine`;
  // As an address it is judged even where a rule says that it is a path.
  return [part(role, text, 'net', why), part('url', { value, prefix: value }, 'net', why)];
}

const HERE = {
  archive: 'output',
  kustomization: 'path',
  repo: 'word',
  endpoint: 'word',
  image: 'word',
} as const;

/** No real name is longer, and matching a longer one takes long. */
const LENGTH_MAX = 2_048;

/** Where docker goes anyway. */
const DOCKER_HUB = /^(?:index\.)?docker\.io\//;

/** GitHub is where `gh` goes anyway. */
const GITHUB = /^(?:https:\/\/)?(?:api\.)?github\.com\//;

const LEADS: Readonly<Record<Elsewhere, (value: string) => boolean>> = {
  archive: (value) => /^[^/]*:/.test(value),
  // `a.b/c` is a host with a repository, as are `x.git`, `a//b?ref=c` and whatever has a colon.
  kustomization: (value) => /[:@?]|\/\/|\.git\b|_git\b|^[^./][^/]*\.[^/]*\//.test(value),
  repo: (value) => !GITHUB.test(value) && /:|@|\/.*\//.test(value),
  endpoint: (value) =>
    !GITHUB.test(value) && /^[a-z]+:\/\/|^[^/]*@[^/]*:|^[\w-]+\.[\w.-]+(:\d+)?\/.*\//i.test(value),
  image: (value) => !DOCKER_HUB.test(value) && /^(?:[^/]*[.:][^/]*|localhost)\//.test(value),
};
