// Words that few programs have: lists of files, goals of maven, features of compilers, images, the
// directories that a build empties. As strict as the roles that are met every day.

import { readsEnvironment } from '../programs.ts';
import { KUBE_THINGS } from './data-ops-kube.ts';
import type { Word } from './options.ts';
import { elsewhere } from './remote-words.ts';
import { DOES, type Judged, named, part, shown, type Text } from './word-parts.ts';

export function judgeRare(word: Word, text: Text): readonly Judged[] {
  switch (word) {
    case 'archive':
    case 'kustomization':
    case 'repo':
    case 'endpoint':
    case 'image':
      return elsewhere(word, text);
    case 'triple':
      return [named('word', text, isTriple, 'exec', 'is a file that says how to build')];
    case 'rebase':
      return [named('word', text, (v) => /^(true|false|m(erges)?)?$/.test(v), 'exec', 'asks back')];
    case 'template':
      return [named('word', text, (v) => !SHOWS_ENV.test(v), 'secret', 'can show variables')];
    case 'paths':
      return paths(text);
    case 'goal':
      return [goal(text)];
    case 'fresh':
      return [fresh(text)];
    case 'feature':
      return [named('word', text, isFeature, 'exec', 'names a file or a program')];
    case 'plain':
      return [named('word', text, isPlain, 'secret', 'sends what is in a file')];
    case 'label':
      return [named('word', text, isLabel, 'exec', 'is not a label of this workspace')];
    case 'thing':
      return [named('word', text, isThing, 'secret', 'could be a secret')];
    case 'builder':
      return [named('word', text, (v) => v !== 'clean', 'delete', 'deletes what was built')];
    case 'sink':
      return [sink(text)];
    case 'writeout':
      return [named('word', text, (v) => !/^@|%output/i.test(v), 'write', 'writes a file')];
    default:
      return judgeRarer(word, text);
  }
}

function judgeRarer(word: Word, text: Text): readonly Judged[] {
  switch (word) {
    case 'mode':
      return [named('word', text, isMode, 'config', 'lets others write, or runs as its owner')];
    case 'plugin':
      return [named('word', text, (v) => /^no:[\w.-]+$/.test(v), 'exec', 'runs code')];
    case 'filter':
      return [named('word', text, isFilter, 'exec', 'can load a module')];
    case 'switch':
      return [named('word', text, (v) => /^:?[\w.-]*$/.test(v), 'exec', 'sets something else')];
    case 'variables':
      return [part('word', text, 'secret', `all there is of ${shown(text)} has variables in it`)];
    case 'jq':
      return [named('word', text, (v) => !readsEnvironment(v), 'secret', 'can show variables')];
    case 'expression':
      return [
        part(/^\.env|^(?:~|\.{0,2})\/|\.[a-z]{2,5}$/i.test(text.prefix) ? 'path' : 'word', text),
      ];
    case 'setting':
      return [named('word', text, (v) => !SECRET_SETTING.test(v), 'secret', 'can be a secret')];
    case 'view':
      return [named('word', text, isView, 'exec', 'is not a plain name')];
    default:
      return [part('word', text, 'unknown', `${shown(text)} is not understood`)];
  }
}

/** `/dev/null` and `-` write no file: the caller only checks that the program works. */
function sink(text: Text): Judged {
  return text.value === '/dev/null' || text.value === '-'
    ? part('word', text)
    : part('write', text, 'write', `${shown(text)} ${DOES.write}`);
}

/** `//src/...`, `:all`, `-//x`: of bazel; `@repo//x` is fetched. */
function isLabel(value: string): boolean {
  return /^-?(?:\/\/|:|\.\.\.|\w)[\w./:+=~-]*$/.test(value);
}

const THINGS: ReadonlySet<string> = new Set(KUBE_THINGS.split(/\s+/));

/** `pod/api-0` of kubectl: a kind of thing that holds no secrets, and its name. */
function isThing(value: string): boolean {
  const [kind = '', name = '', ...more] = value.split('/');
  return THINGS.has(kind) && /^[\w.-]+$/.test(name) && more.length === 0;
}

function isTriple(value: string): boolean {
  return /^[\w.-]*$/.test(value) && !/\.json$/i.test(value);
}

/** A template of docker with the environment of a container in it, or with all there is. */
const SHOWS_ENV = /^json$|env|print|\$|(^|[^\w])\.(Container)?(Config)?\s*(-?\}\}|[)|])/i;

/** `a:/b`, `x=/b`, `{a,/b}`: whichever sign divides them, each is a file. */
function paths(text: Text): readonly Judged[] {
  if (text.value === undefined) return [part('path', text)];
  const own = text.value.split(/[:;=,{}]/).filter((one) => one !== '');
  if (own.length > PATHS_MAX) return [part('path', text, 'unknown', 'it names too many files')];
  return [text.value, ...own].map((value) => part('path', { value, prefix: value }));
}

const PATHS_MAX = 64; // a class path by hand has a few

/** Phases of maven but for those that publish; what is bound to them is in the project. */
const PHASES: ReadonlySet<string> = new Set(
  `validate initialize generate-sources process-sources generate-resources process-resources compile
  process-classes generate-test-sources process-test-sources generate-test-resources
  process-test-resources test-compile process-test-classes test prepare-package package
  pre-integration-test integration-test post-integration-test verify install clean site`.split(
    /\s+/,
  ),
);
/** Goals that check, show or build; others run programs, fetch code or send something. */
const GOALS = new RegExp(
  [
    '^(?:surefire:test|failsafe:(?:integration-test|verify)|compiler:(?:compile|testCompile)',
    'resources:(?:resources|testResources)|checkstyle:(?:check|checkstyle)|jacoco:(?:check|report)',
    'pmd:(?:check|pmd|cpd-check)|spotbugs:(?:check|spotbugs)|spotless:(?:check|apply)|clean:clean',
    'enforcer:enforce|javadoc:javadoc|versions:display-[\\w-]+|spring-boot:run',
    'quarkus:(?:dev|test)',
    'dependency:(?:tree|list|analyze|analyze-only|resolve|resolve-plugins|go-offline)',
    'help:(?:effective-pom|active-profiles|describe))$',
  ].join('|'),
);

/** `group:artifact:version:goal` is any plugin there is, fetched and run. */
function goal(text: Text): Judged {
  const { value } = text;
  if (value === 'deploy' || value === 'site-deploy') {
    return part('script', text, 'net', `${shown(text)} sends the project elsewhere`);
  }
  const known = (one: string) => PHASES.has(one) || GOALS.test(one);
  return named('script', text, known, 'exec', 'is not a phase or goal that is known');
}

const PRODUCTS = new RegExp(
  [
    '^(?:[\\w.-]+/)*(?:dist|build|out|output|_?site|vendor|target|storybook-static)',
    '(?:[-/][\\w./-]*)?$',
  ].join(''),
);

/** A directory that is emptied before it is written: one that has no other use. */
function fresh(text: Text): Judged {
  const { value = '' } = text;
  return PRODUCTS.test(value) && !value.includes('..')
    ? part('output', text)
    : part('delete', text, 'delete', `${shown(text)} is emptied first`);
}

/** `-fPIC`, `-fsanitize=address`: what has a file behind it has a sign that names do not have. */
function isFeature(value: string): boolean {
  return /^[\w+-]*(=[\w,+-]*)?$/.test(value);
}

/** To the command lines of clouds `@file` and `file://` stand for what is in there. */
function isPlain(value: string): boolean {
  return !/^@|^[a-z]+:\/\//i.test(value);
}

/** Only the owner may write, and there is no setuid or setgid bit. */
function isMode(value: string): boolean {
  return /^0*[0-7][0145][0145]$/.test(value);
}

/** `ignore`, `error::UserWarning`: a category with a dot in it is imported. */
function isFilter(value: string): boolean {
  return /^(?:ignore|error|default|always|module|once|all)(?:::[A-Za-z]+)?$/.test(value);
}

/** Of git: what it sends with every request is how it is let in. */
const SECRET_SETTING = /extraheader|token|password|credential|cookie|sslkey/i;

/** `wide`, `jsonpath={.status}`; what is in a file is not seen. */
function isView(value: string): boolean {
  return /^(?:[\w-]*|(?:jsonpath|jsonpath-as-json|custom-columns|go-template)=.*)$/s.test(value);
}

/** A name that says that it sends the project elsewhere, or empties the database. */
export function taskEffect(text: Text): Judged | undefined {
  const seen = text.value ?? text.prefix;
  if (/(?:^|:)(?:publish|upload|deploy|release)/i.test(seen)) {
    return part('script', text, 'net', `${shown(text)} sends the project elsewhere`);
  }
  if (/^db:(?:.*:)?(?:drop|reset|purge|truncate|setup|load|replant)/.test(seen)) {
    return part('script', text, 'delete', `${shown(text)} empties the database`);
  }
  return undefined;
}
