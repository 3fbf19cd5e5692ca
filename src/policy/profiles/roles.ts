// What a word can do, by its role: most roles are inert or carry their effect in their name, others
// depend on what the word says. Strict where a word is not understood. Words that name files are in
// file-roles.ts, those that name something elsewhere in place-roles.ts.

import { isListed } from '../facts.ts';
import type { Role } from '../profile.ts';
import { readsEnvironment } from '../programs.ts';
import { awkParts } from './awk.ts';
import { FILE_ROLES } from './file-roles.ts';
import {
  DOES,
  type Judge,
  type Judged,
  named,
  part,
  type ScriptRead,
  shown,
  type Text,
} from './judged.ts';
import type { Word } from './options.ts';
import { PLACE_ROLES } from './place-roles.ts';
import { sedParts } from './sed.ts';
import { sqlParts } from './sql.ts';

/** Names are shorter; longer ones would be looked at for a long time. */
const NAME_LENGTH_MAX = 4_096;
const TEXTS: ReadonlySet<Word> = new Set<Word>(['word', 'int', 'path', 'output', 'sed', 'awk']);

/** The parts that are in a word of this role; never none. */
export function judgeWord(word: Word, text: Text): readonly Judged[] {
  if ((text.value ?? text.prefix).length > NAME_LENGTH_MAX && !TEXTS.has(word)) {
    return [part('word', text, 'unknown', `${shown(text)} is too long to be judged`)];
  }
  return JUDGES[word](text);
}

const JUDGES: Readonly<Record<Word, Judge>> = {
  ...PLACE_ROLES,
  ...FILE_ROLES,
  word: (text) => [part('word', text)],
  int: (text) => [part('int', text)],
  path: (text) => [part('path', text)],
  output: (text) => [part('output', text)],
  write: (text) => [part('write', text, 'write', `${shown(text)} ${DOES.write}`)],
  delete: (text) => [part('delete', text, 'delete', `${shown(text)} ${DOES.delete}`)],
  exec: (text) => [part('exec', text, 'exec', `${shown(text)} ${DOES.exec}`)],
  config: (text) => [part('config', text, 'config', `${shown(text)} ${DOES.config}`)],
  net: (text) => [part('net', text, 'net', `${shown(text)} ${DOES.net}`)],
  sed: (text) => scriptParts('sed', text, sedParts),
  awk: (text) => scriptParts('awk', text, awkParts),
  sql: (text) => scriptParts('sql', text, sqlParts),
  program,
  nodebin: program,
  module: program,
  package: (text) => [named('package', text, isPackage, 'exec', 'is not the name of a package')],
  script: (text) => [text.value?.includes('=') === true ? assignment(text) : script(text)],
  task: (text) => [
    taskEffect(text) ?? (text.value?.includes('=') ? assignment(text) : script(text)),
  ],
  assignment: (text) => [assignment(text)],
  format: (text) => [named('word', text, (v) => /^[\w-]*$/.test(v), 'exec', 'is not a plain name')],
  warning: (text) => [
    named('word', text, (v) => !v.includes(','), 'exec', 'is for another program'),
  ],
  passed,
  fallback: (text) => [part('script', text, 'exec', `${shown(text)} could be any program`)],
  triple: (text) => [named('word', text, isTriple, 'exec', 'is a file that says how to build')],
  template: (text) => [
    named('word', text, (v) => !SHOWS_ENV.test(v), 'secret', 'can show variables'),
  ],
  goal: (text) => [goal(text)],
  feature: (text) => [named('word', text, isFeature, 'exec', 'names a file or a program')],
  plain: (text) => [named('word', text, isPlain, 'secret', 'sends what is in a file')],
  label: (text) => [named('word', text, isLabel, 'exec', 'is not a label of this workspace')],
  thing: (text) => [named('word', text, isThing, 'secret', 'could be a secret')],
  builder: (text) => [
    named('word', text, (v) => v !== 'clean', 'delete', 'deletes what was built'),
  ],
  plugin: (text) => [named('word', text, (v) => /^no:[\w.-]+$/.test(v), 'exec', 'runs code')],
  filter: (text) => [named('word', text, isFilter, 'exec', 'can load a module')],
  switch: (text) => [
    named('word', text, (v) => /^:?[\w.-]*$/.test(v), 'exec', 'sets something else'),
  ],
  variables: (text) => [
    part('word', text, 'secret', `all there is of ${shown(text)} has variables in it`),
  ],
  jq: (text) => [named('word', text, (v) => !readsEnvironment(v), 'secret', 'can show variables')],
  view: (text) => [named('word', text, isView, 'exec', 'is not a plain name')],
  // Which of the two it is, has been settled before.
  runnable: (text) => [part('word', text, 'unknown', `${shown(text)} is not understood`)],
};

function program(text: Text): readonly Judged[] {
  return [part('program', text, 'exec', `${shown(text)} is a program that is not known`)];
}

const SCRIPT_LENGTH_MAX = 8_192; // a person would not review more than that either

function scriptParts(
  role: Role,
  text: Text,
  read: (script: string) => ScriptRead,
): readonly Judged[] {
  if (text.value === undefined) {
    return [part(role, text, 'unknown', `the ${role} program is not known`)];
  }
  if (text.value.length > SCRIPT_LENGTH_MAX) {
    return [part(role, text, 'unknown', `the ${role} program is too long to be read`)];
  }
  const { found, files } = read(text.value);
  const own =
    found.length === 0 ? [part(role, text)] : found.map((f) => part(role, text, f.effect, f.why));
  return [...own, ...files.map((file) => part('path', { value: file, prefix: file }))];
}

const NPM_NAME =
  /^(@[a-z0-9~-][\w.~-]*\/)?[a-z0-9_][\w.~-]*(@[~^<>=v]*[\w.*+-]+|@[<>]=?[\w.]+ ?<=?[\w.]+)?$/i;

const PIP_VERSION = '(===?|[<>~!]=|[<>]) ?[\\w.*+!-]+';

const PIP_NAME = new RegExp(
  `^[a-z0-9][\\w.-]*(\\[[\\w,. -]*\\])?( ?${PIP_VERSION}(,${PIP_VERSION})*)?$`,
  'i',
);

const ARCHIVE = /\.(tgz|tar|gz|bz2|xz|zip|whl|egg|gem|crate|jar|js|mjs|cjs|py|sh)$/i;

function isPackage(value: string): boolean {
  if (value.length > 214) return false; // what the registries allow
  if (/^\.(\[[\w,. -]*\])?$/.test(value)) return true;
  return (NPM_NAME.test(value) || PIP_NAME.test(value)) && !ARCHIVE.test(value);
}

function script(text: Text): Judged {
  const plain = (value: string) =>
    value.length < 256 &&
    // To bun a name like `x.ts` is a file.
    !/\.([mc]?[jt]sx?|sh|py)$/.test(value) &&
    /^[\w:.\-/@%+]+$/.test(value) &&
    !/^[-/]|^\.{1,2}\/|(^|\/)\.\.(\/|$)/.test(value);
  return named('script', text, plain, 'exec', 'is not the plain name of a script');
}

/** A name that says that it sends the project elsewhere, or empties the database. */
function taskEffect(text: Text): Judged | undefined {
  const seen = text.value ?? text.prefix;
  if (/(?:^|:)(?:publish|upload|deploy|release)/i.test(seen)) {
    return part('script', text, 'net', `${shown(text)} sends the project elsewhere`);
  }
  if (/^db:(?:.*:)?(?:drop|reset|purge|truncate|setup|load|replant)/.test(seen)) {
    return part('script', text, 'delete', `${shown(text)} empties the database`);
  }
  return undefined;
}

function assignment(text: Text): Judged {
  const seen = text.value ?? text.prefix;
  const name = /^(\w+)[:+?]{0,2}=/.exec(seen)?.[1];
  if (name === undefined || !isListed('plain-variables', name)) {
    return part('assignment', text, 'exec', `${shown(text)} sets a variable that is obeyed`);
  }
  const plain = (value: string) => /^\w+[:+?]{0,2}=[\w.,:-]*$/.test(value);
  return named('assignment', text, plain, 'exec', 'has a value that is not plain');
}

function passed(text: Text): readonly Judged[] {
  const { value } = text;
  if (value === undefined) {
    return [part('word', text, 'unknown', `${shown(text)} is not known`)];
  }
  if (value === '--') return [part('option', text)];
  // `@/x`: where more words are.
  if (/^@[/~.]/.test(value)) {
    const file = value.slice(1);
    return [part('path', { value: file, prefix: file })];
  }
  if (!value.startsWith('-')) {
    const named = /[/~]|^\./.test(value);
    // A directory, a file, a pattern: what it is the script knows. As a file it is judged.
    return [part(named ? 'path' : 'word', text)];
  }
  const [flag = '', ...rest] = value.split('=');
  // By its plain name it is one that the test runner has.
  if (/^--reporters?=[a-z-]+$/.test(value)) return [part('option', text)];
  if (!isListed('plain-flags', flag)) {
    return [part('option', text, 'unknown', `${shown(text)} is for a script that is not known`)];
  }
  const behind = rest.join('=');
  const own = part('option', text);
  return /[/~]/.test(behind) ? [own, part('path', { value: behind, prefix: behind })] : [own];
}

/** `//src/...`, `:all`, `-//x`: of bazel; `@repo//x` is fetched. */
function isLabel(value: string): boolean {
  return /^-?(?:\/\/|:|\.\.\.|\w)[\w./:+=~-]*$/.test(value);
}

/** `pod/api-0` of kubectl: a kind of thing that holds no secrets, and its name. */
function isThing(value: string): boolean {
  const [kind = '', name = '', ...more] = value.split('/');
  return isListed('kubectl-things', kind) && /^[\w.-]+$/.test(name) && more.length === 0;
}

function isTriple(value: string): boolean {
  return /^[\w.-]*$/.test(value) && !/\.json$/i.test(value);
}

/** A template of docker with the environment of a container in it, or with all there is. */
const SHOWS_ENV = /^json$|env|print|\$|(^|[^\w])\.(Container)?(Config)?\s*(-?\}\}|[)|])/i;

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
  const known = (one: string) => isListed('maven-phases', one) || GOALS.test(one);
  return named('script', text, known, 'exec', 'is not a phase or goal that is known');
}

/** `-fPIC`, `-fsanitize=address`: what has a file behind it has a sign that names do not have. */
function isFeature(value: string): boolean {
  return /^[\w+-]*(=[\w,+-]*)?$/.test(value);
}

/** To the command lines of clouds `@file` and `file://` stand for what is in there. */
function isPlain(value: string): boolean {
  return !/^@|^[a-z]+:\/\//i.test(value);
}

/** `ignore`, `error::UserWarning`: a category with a dot in it is imported. */
function isFilter(value: string): boolean {
  return /^(?:ignore|error|default|always|module|once|all)(?:::[A-Za-z]+)?$/.test(value);
}

/** `wide`, `jsonpath={.status}`; what is in a file is not seen. */
function isView(value: string): boolean {
  return /^(?:[\w-]*|(?:jsonpath|jsonpath-as-json|custom-columns|go-template)=.*)$/s.test(value);
}
