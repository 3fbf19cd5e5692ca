// The rules of the house as functions: files in, complaints out. `tidy.test.ts` holds the sources
// to them, and each of them to a small violation, because a rule that cannot fail holds nothing.
import { FOLDERS, inSrc, resolve } from './tidy-law.ts';
import type { CallFact, SourceFacts } from './tidy-source.ts';

/** File contents by name relative to the root of the repository, with `/`. */
export type Files = ReadonlyMap<string, string>;
type Facts = ReadonlyMap<string, SourceFacts>;

export const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
export const LINE_COLUMNS_MAX = 100;

const BINS = ['src/cli/cuff.ts', 'src/cli/derun.ts'];
const BUILT_ALONE = [
  'src/cli/mcp-shipped.ts',
  'src/cli/sh-start.ts',
  'src/packing/worker.ts',
  'src/web/worker.ts',
];
const ENTRIES = ['src/index.ts', ...BINS, ...BUILT_ALONE];
/** No file imports itself over others, types included. */
export function importCycles(facts: Facts): string[] {
  const complaints: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) complaints.push(`cycle: ${[...path.slice(start), file].join(' -> ')}`);
    if (start >= 0 || done.has(file)) return;
    for (const next of importsOf(facts, file)) visit(next, [...path, file]);
    done.add(file);
  };
  for (const [file] of inSrc(facts)) visit(file, []);
  return complaints;
}

/** Every source is reached from a bin or from the library. */
export function deadFiles(facts: Facts): string[] {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const next of importsOf(facts, file)) visit(next);
  };
  for (const entry of ENTRIES) visit(entry);
  const missing = ENTRIES.filter((entry) => !facts.has(entry)).map((entry) => `${entry}: missing`);
  const dead = inSrc(facts).filter(([file]) => !reached.has(file));
  return [...missing, ...dead.map(([file]) => `${file}: nobody imports it`)];
}

export function longFiles(files: Files): string[] {
  return [...files]
    .map(([file, text]) => ({ file, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > FILE_LINES_MAX)
    .map(({ file, lines }) => `${file}: ${lines} lines, at most ${FILE_LINES_MAX}`);
}

export function longLines(files: Files): string[] {
  return [...files].flatMap(([file, text]) =>
    text
      .split('\n')
      .map((line, index) => ({ columns: [...line].length, at: `${file}:${index + 1}` }))
      .filter(({ columns }) => columns > LINE_COLUMNS_MAX)
      .map(({ columns, at }) => `${at}: ${columns} columns, at most ${LINE_COLUMNS_MAX}`),
  );
}

/** A `describe` only groups tests, so its length says nothing. */
export function longFunctions(facts: Facts): string[] {
  return [...facts].flatMap(([file, { functions }]) =>
    functions
      .filter(({ lines }) => lines > FUNCTION_LINES_MAX)
      .filter(({ passedTo }) => !(passedTo ?? '').startsWith('describe'))
      .map(
        ({ name, line, lines }) =>
          `${file}:${line}: ${name} has ${lines} lines, at most ${FUNCTION_LINES_MAX}`,
      ),
  );
}

/** C functions start at the margin with a parenthesis and end with a brace at the margin. */
export function longCFunctions(files: Files): string[] {
  const complaints: string[] = [];
  for (const [file, text] of files) {
    let start = 0;
    let opened = false;
    text.split('\n').forEach((line, index) => {
      if (/^[A-Za-z_][^=]*\(/.test(line)) {
        start = index + 1;
        opened = false;
      }
      opened ||= line.includes('{');
      if (!opened && line.endsWith(';')) start = 0; // It was only declared.
      if (start === 0 || !line.startsWith('}')) return;
      const lines = index + 2 - start;
      if (lines > FUNCTION_LINES_MAX) {
        complaints.push(`${file}:${start}: ${lines} lines, at most ${FUNCTION_LINES_MAX}`);
      }
      start = 0;
    });
  }
  return complaints;
}

export function consoleUses(facts: Facts): string[] {
  return inSrc(facts)
    .filter(([file]) => !file.startsWith('src/cli/'))
    .flatMap(([file, { consoleLines }]) =>
      consoleLines.map((line) => `${file}:${line}: console belongs to src/cli`),
    );
}

/** Words that promise work to nobody, paths of one machine, and hosts that only it can reach. */
export function foreignWords(files: Files): string[] {
  // Written in pieces, so that this file does not complain about itself.
  const marks: readonly (readonly [RegExp, string])[] = [
    [new RegExp(`\\b(${['TO', 'DO'].join('')}|${['FIX', 'ME'].join('')})\\b`), 'an open end'],
    [new RegExp(`(^|[\\s"'\`(=:,])/(${['work', 'farm'].join('|')})/`), 'a path of one machine'],
    [/(^|[\s"'`(=:,])\/home\/(?!user\/|you\/)[a-z][\w-]*\//, 'a path of one machine'],
    [/https?:\/\/[\w.-]*(registry|artifactory|verdaccio|nexus)[\w.-]*/i, 'a package registry'],
  ];
  return [...files].flatMap(([file, text]) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        marks
          .filter(([pattern]) => pattern.test(line))
          .map(([, what]) => `${file}:${index + 1}: ${what}: ${line.trim().slice(0, 80)}`),
      ),
  );
}

/**
 * Paths named in backticks exist. Looked at: what starts with a folder of ours, `room/file.ts`,
 * and documents in capitals. A pattern must match something; `<placeholders>` are left alone.
 */
export function namedPaths(documents: Files, existing: readonly string[]): string[] {
  const tops = ['src', 'test', 'scripts', 'native', 'docs', 'bench', '.ci', '.github'];
  const built = /^(dist|native\/prebuilt)\b/;
  const known = new Set(existing.flatMap((file) => [file, ...parents(file)]));
  const exists = (path: string): boolean => {
    if (known.has(path) || known.has(`src/${path}`)) return true;
    if (!path.includes('*')) return false;
    const pattern = path.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '.*');
    return existing.some((file) => new RegExp(`^${pattern}$`).test(file));
  };
  return [...documents].flatMap(([document, text]) =>
    [...text.matchAll(/`([\w.*/-]+)`/g)]
      .map((match) => (match[1] ?? '').replace(/^\.\/|\/$/g, ''))
      .filter((path) => {
        const top = path.split('/')[0] ?? '';
        if (built.test(path)) return false;
        if (/^[A-Z]+\.md$/.test(path)) return true;
        return path.includes('/') && (tops.includes(top) || isSource(path, top));
      })
      .filter((path) => !exists(path))
      .map((path) => `${document}: names ${path}, which does not exist`),
  );
}

function isSource(path: string, top: string): boolean {
  return FOLDERS.includes(top) && path.endsWith('.ts');
}

function parents(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Names and addresses that can never be a real machine: RFC 2606, RFC 5737, loopback. */
const RESERVED: readonly RegExp[] = [
  /^(localhost|127(\.\d+){3}|0\.0\.0\.0|\[?::1\]?)$/,
  /^(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+$/,
  /(^|\.)(example\.(org|com|net)|example|invalid|test|localhost|evil)$/i,
  /^[a-z0-9-]+$/i,
];

/** Identifiers that look like addresses, and texts whose very point is a real host. */
const REAL_HOSTS: readonly string[] = [
  'json-schema.org', // the dialect of a JSON schema
  'in-toto.io', // the types of attestations
  'opencode.ai', // the schema that a client's configuration names
  'www.w3.org', // the name space of an image
  '169.254.169.254', // what an attack asks for
];

/** In commands that a policy judges, and never runs. */
const POLICY_HOSTS: readonly string[] = ['github.com', 'api.github.com'];

const URL_HOST = /\b(?:https?|wss?|ftp|git|ssh|postgres):\/\/([^\s/"'`<>()\\|,;]+)/g;
/** Only in documents: in code a dot is mostly something else. */
const BARE_HOST = /(?<![\w@./-])((?:[a-z0-9-]+\.)+(?:com|org|net|io|dev))(?![\w.-])/gi;

/** Hosts in documents, tests and examples are reserved names or this machine. */
export function realHosts(texts: ReadonlyMap<string, string>): string[] {
  return [...texts].flatMap(([file, text]) => {
    const document = !file.startsWith('test/');
    const policy = file.startsWith('test/policy/');
    const allowed = [...REAL_HOSTS, ...(policy ? POLICY_HOSTS : [])];
    return [...text.matchAll(URL_HOST), ...(document ? text.matchAll(BARE_HOST) : [])]
      .map(([, authority = '']) => authority.replace(/^.*@/, '').replace(/:[^:\]]*$/, ''))
      .filter((host) => /^[[\]a-z0-9.:-]+$/i.test(host))
      .filter((host) => !RESERVED.some((one) => one.test(host)) && !allowed.includes(host))
      .map((host) => `${file}: ${host}`);
  });
}

/** A test that does not run says why: `it.skipIf(lacking(...))`, or `context.skip('why')`. */
export function silentSkips(facts: Facts): string[] {
  return [...facts].flatMap(([file, { calls, madeByCall }]) =>
    calls
      .filter((call) => !saysWhy(call, madeByCall))
      .map((call) => `${file}:${call.line}: ${call.callee} without a printed reason`),
  );
}

function saysWhy(call: CallFact, madeByCall: SourceFacts['madeByCall']): boolean {
  const [, owner = '', verb = ''] = /^(.*)\.(skip|skipIf|runIf|todo)$/s.exec(call.callee) ?? [];
  if (verb === '') return true;
  const runner = /^(it|test|describe)\b/.test(owner);
  if (verb === 'todo') return !runner;
  if (verb === 'skip') return !runner && call.arguments.some((one) => one.kind !== 'call');
  const first = call.arguments[0];
  const strings = first?.kind === 'call' ? first.strings : madeByCall.get(sourceOf(first));
  return (strings ?? []).some((reason) => reason.includes(' '));
}

function sourceOf(argument: CallFact['arguments'][number] | undefined): string {
  return argument?.kind === 'other' ? argument.source : '';
}

function importsOf(facts: Facts, file: string): string[] {
  const specifiers = facts.get(file)?.imports ?? [];
  const relative = specifiers.filter((name) => name.startsWith('.'));
  return relative.map((name) => resolve(file, name)).filter((target) => facts.has(target));
}
