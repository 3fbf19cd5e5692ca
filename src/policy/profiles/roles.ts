// What a word can do, by its role: most roles are inert or carry their effect in their name, others
// depend on what the word says. Strict where a word is not understood.

import type { Role } from '../profile.ts';
import { awkParts } from './awk.ts';
import { aimsAtSecrets } from './name-globs.ts';
import type { Word } from './options.ts';
import { judgeRare, taskEffect } from './rare.ts';
import type { ScriptRead } from './script.ts';
import { sedParts } from './sed.ts';
import { sqlParts } from './sql.ts';
import { DOES, type Judged, named, part, shown, type Text } from './word-parts.ts';

/** Names are shorter; longer ones would be looked at for a long time. */
const NAME_LENGTH_MAX = 4_096;
const TEXTS: ReadonlySet<Word> = new Set<Word>(['word', 'int', 'path', 'output', 'sed', 'awk']);

/** The parts that are in a word of this role; never none. */
export function judgeWord(word: Word, text: Text): readonly Judged[] {
  if ((text.value ?? text.prefix).length > NAME_LENGTH_MAX && !TEXTS.has(word)) {
    return [part('word', text, 'unknown', `${shown(text)} is too long to be judged`)];
  }
  switch (word) {
    case 'word':
    case 'int':
    case 'path':
    case 'output':
      return [part(word, text)];
    case 'write':
    case 'delete':
    case 'exec':
    case 'config':
    case 'net':
      return [part(word, text, word, `${shown(text)} ${DOES[word]}`)];
    case 'sed':
      return scriptParts('sed', text, sedParts);
    case 'awk':
      return scriptParts('awk', text, awkParts);
    case 'sql':
      return scriptParts('sql', text, sqlParts);
    case 'rev':
      return [revision('rev', text)];
    case 'revpath':
      return revisionOrPath(text);
    case 'url':
      return [url(text)];
    case 'remote':
      return [remote(text)];
    case 'refspec':
      return [refspec(text)];
    case 'branch':
      return [branch(text)];
    case 'program':
    case 'nodebin':
    case 'module':
      return [part('program', text, 'exec', `${shown(text)} is a program that is not known`)];
    default:
      return judgeName(word, text);
  }
}

function judgeName(word: Word, text: Text): readonly Judged[] {
  switch (word) {
    case 'package':
      return [named('package', text, isPackage, 'exec', 'is not the name of a package')];
    case 'script':
      return [text.value?.includes('=') === true ? assignment(text) : script(text)];
    case 'task':
      return [taskEffect(text) ?? (text.value?.includes('=') ? assignment(text) : script(text))];
    case 'assignment':
      return [assignment(text)];
    case 'format':
      return [named('word', text, (v) => /^[\w-]*$/.test(v), 'exec', 'is not a plain name')];
    case 'warning':
      return [named('word', text, (v) => !v.includes(','), 'exec', 'is for another program')];
    case 'testid':
      return [source(cut(text, '::'))];
    case 'source':
      return [source(text)];
    case 'gopkg':
      return goPackage(text);
    case 'passed':
      return passed(text);
    case 'fallback':
      return [part('script', text, 'exec', `${shown(text)} could be any program`)];
    case 'product':
      return [source(text, 'output')];
    case 'files':
      return fileGlob(text);
    case 'lines':
      return [part('path', behindLast(text, ':'))];
    case 'report':
      return [part('output', behindLast(text, ':'))];
    case 'figures':
      return [figures(text)];
    default:
      return judgeRare(word, text);
  }
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

function cut(text: Text, mark: string): Text {
  const prefix = text.prefix.split(mark)[0] ?? '';
  if (text.value !== undefined) return { value: text.value.split(mark)[0] ?? '', prefix };
  // The file is known when the mark is behind it.
  return text.prefix.includes(mark) ? { value: prefix, prefix } : { value: undefined, prefix };
}

function behindLast(text: Text, mark: string): Text {
  const prefix = text.prefix.slice(text.prefix.lastIndexOf(mark) + 1);
  return { value: text.value === undefined ? undefined : prefix, prefix };
}

function source(text: Text, role: 'path' | 'output' = 'path'): Judged {
  return text.prefix.startsWith('@')
    ? part(role, text, 'exec', `${shown(text)} has options in it that are not seen`)
    : part(role, text);
}

/** Which files of a tree are read. What begins with `!` is left out. */
function fileGlob(text: Text): readonly Judged[] {
  const glob = text.value ?? text.pattern;
  if (glob === undefined) return [part('path', text)];
  if (glob.startsWith('!')) return [part('word', text)];
  // `--type-add name:*.x`; and a slash in front is the top of the tree.
  const own = glob.replace(/^\w+:/, '').replace(/^\/+/, '');
  const path = text.value === undefined ? text : { value: own, prefix: own };
  return aimsAtSecrets(own)
    ? [part('path', path, 'secret', `${shown(text)} can be files with secrets`)]
    : [part('path', path)];
}

const FIGURES = /\.(out|prof|pprof|cov|lcov)$/;

/** Where numbers about a run go: a file that has no other use, or it would be overwritten. */
function figures(text: Text): Judged {
  return FIGURES.test(text.value ?? '')
    ? part('output', text)
    : part('write', text, 'write', `${shown(text)} ${DOES.write}`);
}

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

/** Variables that say how much is printed, or which of the known ways is gone. */
const PLAIN_VARIABLES: ReadonlySet<string> = new Set([
  ...['V', 'VERBOSE', 'DEBUG', 'RELEASE', 'Q', 'QUIET', 'J', 'JOBS', 'CI', 'COLOR', 'NO_COLOR'],
  ...['FORCE_COLOR', 'TEST', 'TESTS', 'NODE_ENV', 'BABEL_ENV', 'TZ', 'LANG', 'LC_ALL', 'RACK_ENV'],
  ...['RAILS_ENV', 'MIX_ENV', 'APP_ENV', 'LOG_LEVEL', 'RUST_BACKTRACE', 'PORT'],
]);

function assignment(text: Text): Judged {
  const seen = text.value ?? text.prefix;
  const name = /^(\w+)[:+?]{0,2}=/.exec(seen)?.[1];
  if (name === undefined || !PLAIN_VARIABLES.has(name)) {
    return part('assignment', text, 'exec', `${shown(text)} sets a variable that is obeyed`);
  }
  const plain = (value: string) => /^\w+[:+?]{0,2}=[\w.,:-]*$/.test(value);
  return named('assignment', text, plain, 'exec', 'has a value that is not plain');
}

/** `./...`, `./cmd/x`, `main.go` and `fmt`: files; `example.com/x@latest` is fetched and run. */
function goPackage(text: Text): readonly Judged[] {
  const seen = text.value ?? text.prefix;
  if (seen.includes('@') || /^[\w-]+\.[\w.-]+\//.test(seen) || seen.startsWith('-')) {
    return [part('path', text, 'exec', `${shown(text)} is code from elsewhere`)];
  }
  return [part('path', text)];
}

/** Flags of test runners and linters that say what to show or to choose. */
const PLAIN_FLAGS: ReadonlySet<string> = new Set(
  `--watch --no-watch --watchAll --coverage --no-coverage --verbose -v -vv --silent --quiet -q --fix
  --ci --bail -b --run --runInBand --testPathPattern --testNamePattern -t --testPathPatterns
  --updateSnapshot -u --passWithNoTests --maxWorkers --nocapture --no-capture --test-threads
  --exact --ignored --include-ignored --show-output --skip --list --color --no-color --grep -k
  --headed --project --workers --retries --timeout --mode --port --check --write --max-warnings
  --ext --cache --no-cache --noEmit --pretty --debug --dry-run -n --help -h --version --strict
  --only --shard --forceExit --detectOpenHandles --onlyChanged -D -W -A -F --json --all --stats
  --filter --no-file-parallelism --changed --colors --info -s --lf --ff --tb --maxfail --durations
  --no-header --no-summary --test --bench --single-run --browsers --spec --production`.split(/\s+/),
);

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
  if (!PLAIN_FLAGS.has(flag)) {
    return [part('option', text, 'unknown', `${shown(text)} is for a script that is not known`)];
  }
  const behind = rest.join('=');
  const own = part('option', text);
  return /[/~]/.test(behind) ? [own, part('path', { value: behind, prefix: behind })] : [own];
}
