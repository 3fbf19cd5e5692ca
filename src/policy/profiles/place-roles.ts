// Roles of words that name something elsewhere: revisions, branches and remotes of git, addresses,
// and words that look like files or names and lead to another machine. The archive of `tar` can be
// `host:file`, a directory of kustomize a repository; a repository of `gh` can name its host, as an
// image of docker can.

import type { Role } from '../profile.ts';
import { type Judge, type Judged, named, part, shown, type Text } from './judged.ts';
import { aimsAtSecrets } from './name-globs.ts';

export const PLACE_ROLES = {
  rev: (text) => [revision('rev', text)],
  revpath: revisionOrPath,
  remote: (text) => [remote(text)],
  refspec: (text) => [refspec(text)],
  branch: (text) => [branch(text)],
  rebase: (text) => [
    named('word', text, (v) => /^(true|false|m(erges)?)?$/.test(v), 'exec', 'asks back'),
  ],
  setting: (text) => [
    named('word', text, (v) => !SECRET_SETTING.test(v), 'secret', 'can be a secret'),
  ],
  url: (text) => [url(text)],
  archive: (text) => elsewhere('archive', text),
  kustomization: (text) => elsewhere('kustomization', text),
  repo: (text) => elsewhere('repo', text),
  endpoint: (text) => elsewhere('endpoint', text),
  image: (text) => elsewhere('image', text),
  gopkg: goPackage,
} satisfies Readonly<Record<string, Judge>>;

const NOT_IN_REVISIONS = /^-|::|[;|&$`<>()"'\\\n\r]/;

function revision(role: Role, text: Text): Judged {
  const seen = text.value ?? text.prefix;
  if (text.value === '-') return part(role, text); // the branch before
  const odd = NOT_IN_REVISIONS.test(seen);
  return odd
    ? part(role, text, 'unknown', `${shown(text)} is not a plain revision`)
    : part(role, text);
}

/** `HEAD~1`, `src/a.ts`, `HEAD:src/a.ts`: git takes what is no revision for a file. */
function revisionOrPath(text: Text): readonly Judged[] {
  const seen = text.value ?? text.prefix;
  // `:!a`, `:^a` and `:(exclude)a` are what is left out.
  if (/^:([!^]|\([a-z,]*exclude)/.test(seen)) return [part('word', text)];
  // `:(top)a` and `a (b).ts` are files with signs that no revision has; as files they are judged.
  const own = /^-|::|[\n\r]/.test(seen) ? revision('path', text) : fileOf(text);
  const behind = seen.split(':').slice(1);
  return [
    own,
    // `:0:a` has two colons, and a name may have one itself.
    ...behind.slice(0, COLONS_MAX).map((_, at) => {
      const rest = behind
        .slice(at)
        .join(':')
        .replace(/^\([^)]*\)|^\/+/, '');
      return fileOf({ value: text.value === undefined ? undefined : rest, prefix: rest });
    }),
  ];
}

const COLONS_MAX = 8; // more are in no name that is meant

/** To git the name of a file is a pattern, with letters of any size if one wants that. */
function fileOf(text: Text): Judged {
  return text.value !== undefined && aimsAtSecrets(text.value)
    ? part('path', text, 'secret', `${shown(text)} can be files with secrets`)
    : part('path', text);
}

function remote(text: Text): Judged {
  const { value } = text;
  if (value === undefined) return part('word', text, 'unknown', `${shown(text)} is not known`);
  if (/^[A-Za-z0-9_][\w.-]*$/.test(value)) return part('word', text);
  if (/^(https?|ssh|git):\/\//.test(value)) return part('url', text);
  if (value.includes('::') || value.startsWith('-')) {
    return part('word', text, 'exec', `${shown(text)} runs code`);
  }
  return part('word', text, 'net', `${shown(text)} is not the name of a remote`);
}

/** `git checkout src/a.ts` and `git checkout .` throw away what was changed there. */
function branch(text: Text): Judged {
  const seen = text.value ?? text.prefix;
  if (text.value === '-') return revision('rev', text);
  if (/^[./:]|[/*]$|[*?[]|\.[a-z]{1,5}$/i.test(seen) || !BRANCH.test(seen) || LAYOUT.test(seen)) {
    return part('rev', text, 'delete', `${shown(text)} could be a file that is overwritten`);
  }
  return revision('rev', text);
}

/** What is a revision by its looks: `main`, `v1.2`, `fix/x`, a hash, all with `~2` behind. */
const BRANCH = new RegExp(
  [
    '^(?:@|HEAD|main|master|develop|dev|trunk|staging|production|release|v\\d[\\w.+-]*',
    '[0-9a-f]{7,64}|.+/.+)(?:[~^@].*)?$',
  ].join('|'),
);

/** Where projects have their files: no branch is called like that. */
const LAYOUT = new RegExp(
  [
    '^(?:src|libs?|apps?|tests|dist|build|bin|scripts|packages|pkg|cmd|internal|include|public',
    'config|spec|node_modules)/',
  ].join('|'),
);

function refspec(text: Text): Judged {
  const seen = text.value ?? text.prefix;
  if (/^[+:]/.test(seen)) {
    return part('rev', text, 'delete', `${shown(text)} deletes or overwrites a branch`);
  }
  if (text.value === undefined && text.prefix === '') {
    return part('rev', text, 'unknown', `${shown(text)} is not known`);
  }
  return revision('rev', text);
}

/** Of git: what it sends with every request is how it is let in. */
const SECRET_SETTING = /extraheader|token|password|credential|cookie|sslkey/i;

const FINE_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+[/?#]/i;

function url(text: Text): Judged {
  if (text.value === undefined && !FINE_URL.test(text.prefix)) {
    return part('url', text, 'unknown', `which host ${shown(text)} is is not known`);
  }
  const seen = text.value ?? text.prefix;
  // `ext::sh -c ...` and `fd::` are commands to git.
  if (/^[\w+.-]*::/.test(seen)) return part('url', text, 'exec', `${shown(text)} runs code`);
  if (/^file:/i.test(seen)) return part('url', text, 'secret', `${shown(text)} reads a file`);
  return part('url', text);
}

/** `./...`, `./cmd/x`, `main.go` and `fmt`: files; `example.com/x@latest` is fetched and run. */
function goPackage(text: Text): readonly Judged[] {
  const seen = text.value ?? text.prefix;
  if (seen.includes('@') || /^[\w-]+\.[\w.-]+\//.test(seen) || seen.startsWith('-')) {
    return [part('path', text, 'exec', `${shown(text)} is code from elsewhere`)];
  }
  return [part('path', text)];
}

type Elsewhere = 'archive' | 'kustomization' | 'repo' | 'endpoint' | 'image';

function elsewhere(word: Elsewhere, text: Text): readonly Judged[] {
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
