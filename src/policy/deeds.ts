// What a command did that deserves a second look, by its text alone: deleted, published, sent away,
// read secrets, changed permissions. It is for people who read what agents did before there were
// any rules, so it names the part of the command and how much it matters, and decides nothing.
// Cleaning up temporary files and build results is what every build does, and is left out.

import { literalOf } from './analyse/args.ts';
import { analyse } from './analyse/index.ts';
import type { Decision } from './decision.ts';
import { type Act, DEED_KINDS, type DeedKind } from './deed-kinds.ts';
import { foreignCode, LOCAL } from './foreign-code.ts';
import { absolute, isInside, type Roots } from './paths.ts';
import { dataLoss, deedMarks, isWatched, onlyAsks } from './profiles/deeds.ts';
import { readCall } from './profiles/index.ts';
import { programName, showsEnvironment } from './programs.ts';
import { isSink } from './protected.ts';
import { unitText } from './reasons.ts';
import { touchedWords } from './touched.ts';
import type { Unit } from './unit.ts';

type Place = Roots & { readonly cwd: string };

/** `decision`: what a policy without rules says. Each kind once, with its weightiest part. */
export function deedsOf(text: string, place: Place, decision: Decision): readonly Act[] {
  const units = isWorthReading(text) ? analyse(text, place).units : [];
  // A policy does not tell a question to a database from a change.
  const asking = new Set(units.filter(({ argv }) => onlyAsks(argv)).map(unitText));
  const reasons = decision.reasons.filter(
    ({ unit, detail }) => detail === 'secret' || !asking.has(unit),
  );
  const found = [
    ...reasons.flatMap(reasonDeed),
    ...units.flatMap((unit, at) => unitDeeds(unit, place, inputOf(units, at, text))),
    ...foreignCode(units, place),
  ];
  const best = new Map<DeedKind, Act>();
  for (const deed of found) {
    const known = best.get(deed.kind);
    if (known === undefined || known.weight < deed.weight) best.set(deed.kind, deed);
  }
  if (best.has('protected')) best.delete('overwrote'); // the same file, said once
  const secret = best.get('secret');
  if (secret !== undefined && units.some(passesOn)) best.set('secret', { ...secret, weight: 3 });
  return DEED_KINDS.flatMap((kind) => best.get(kind) ?? []);
}

/**
 * Whether it deletes or overwrites something outside of the project: files, another repository, the
 * history of a remote, data of a server. Temporary files do not count.
 */
export function destroysOutside(text: string, units: readonly Unit[], place: Place): boolean {
  return units.some((unit, at) => {
    const acts = unitDeeds(unit, place, inputOf(units, at, text));
    const program = programName(literalOf(unit.argv[0]));
    return acts.some(({ kind, weight }) => {
      if (kind === 'overwrote' || kind === 'dangerous') return true;
      if (program === 'git') {
        return (
          (kind === 'published' && weight === 3) || (kind === 'deleted' && isAway(unit, place))
        );
      }
      if (kind !== 'deleted') return false;
      if (REMOVERS.has(program) || program === 'find') return weight === 3;
      return !worksInside(unit, place);
    });
  });
}

/** `git -C ../other`, or in another directory. */
function isAway({ argv, cwds }: Unit, { cwd, project }: Place): boolean {
  const from = cwds?.[0] ?? cwd;
  const named = (readCall(argv)?.parts ?? []).flatMap(({ option, role, value }) =>
    role !== 'option' && /^(?:-C|--git-dir|--work-tree)$/.test(option ?? '') ? [value ?? '/'] : [],
  );
  return [from, ...named].some((path) => !isInside(absolute(path, from), project));
}

/** A database that is a file of the project. */
function worksInside({ argv, cwds }: Unit, { cwd, project }: Place): boolean {
  const [file] = touchedWords(argv, readCall(argv)).filter(({ access }) => access === 'write');
  const path = absolute(file?.word.value ?? '/', cwds?.[0] ?? cwd);
  return programName(literalOf(argv[0])) === 'sqlite3' && isInside(path, project);
}

/** It sends what it reads: `env | curl -d @- ...`. */
function passesOn({ argv, stdin }: Unit): boolean {
  const [program, ...words] = argv.slice(0, WORDS_MAX).map(literalOf);
  return stdin === 'pipe' && sends(programName(program ?? ''), words.join(' ')) > 0;
}

// What a person typed is far shorter, and patterns take long for more.
const WORDS_MAX = 256;
const LINE_LENGTH_MAX = 4_096;

const REMOVERS = new Set(['rm', 'rmdir', 'unlink', 'shred', 'trash']);
const ELEVATING = new Set(['sudo', 'doas', 'su', 'pkexec']);
const PERMISSIONS = new Set(['chmod', 'chown', 'chgrp', 'setfacl', 'chattr']);
const FETCHERS = new Set(['curl', 'wget', 'http', 'https', 'xh']);
const COPIERS = new Set(['scp', 'rsync', 'sftp']);
const PIPES = new Set(['nc', 'ncat', 'netcat', 'telnet', 'socat']);
const MAILERS = new Set(['mail', 'sendmail', 'mutt']);
const WRITERS = new Set(['cp', 'mv', 'install', 'ln', 'tee', 'dd', 'truncate', 'sed', 'rsync']);

/** Reading a text takes a while, and most commands have none of these. */
const NAMES = new Set([
  ...['env', 'printenv', 'compgen', 'set', 'export', 'declare', 'typeset', 'readonly', 'find'],
  ...REMOVERS,
  ...ELEVATING,
  ...PERMISSIONS,
  ...FETCHERS,
  ...COPIERS,
  ...PIPES,
  ...MAILERS,
  ...WRITERS,
  'ssh',
]);

function isWorthReading(text: string): boolean {
  if (/>/.test(text)) return true;
  return text.match(/[\w.-]+/g)?.some((word) => NAMES.has(word) || isWatched(word)) === true;
}

function reasonDeed({ code, detail, unit, verdict }: Decision['reasons'][number]): readonly Act[] {
  if (code === 'builtin.dangerous') return [{ kind: 'dangerous', weight: 3, part: unit }];
  const file = code === 'path.protected';
  if (detail === 'secret') {
    // A file that is called a secret is one; what the environment shows mostly is none.
    const shows = file && !LISTING.test(unit);
    return [{ kind: 'secret', weight: shows ? 2 : 1, part: unit }];
  }
  // A policy also asks where it cannot tell which file it is; that is no finding.
  if (!file || verdict !== 'deny') return [];
  return [{ kind: 'protected', weight: 2, part: unit }];
}

/** They show names and no content. */
const LISTING = /^(?:ls|stat|find|test|\[|du|wc -c)\s/;

function unitDeeds(unit: Unit, place: Place, input: string): readonly Act[] {
  const program = programName(literalOf(unit.argv[0]));
  const words = unit.argv.slice(1, WORDS_MAX).map((arg) => literalOf(arg) || arg.source);
  const line = words.join(' ').slice(0, LINE_LENGTH_MAX);
  const part = unitText(unit);
  const deeds = deedMarks(unit.argv).flatMap((mark): readonly Act[] => {
    const [kind, weight] = mark.split(' ');
    const known = DEED_KINDS.find((one) => one === kind);
    return known === undefined ? [] : [{ kind: known, weight: Number(weight), part }];
  });
  const add = (kind: DeedKind, weight: number): void => {
    if (weight > 0) deeds.push({ kind, weight, part });
  };
  add('secret', showsEnvironment(unit) ? 1 : 0);
  add('elevated', ELEVATING.has(program) ? 2 : 0);
  add('deleted', Math.max(deletes(program, line, unit, place), dataLoss(unit.argv, input)));
  add('sent', sends(program, line));
  add('permissions', PERMISSIONS.has(program) ? permissionWeight(words) : 0);
  add('overwrote', overwrites(program, unit, place) ? 2 : 0);
  return deeds;
}

/** What a unit reads, as far as the text says: a here-document, or what `echo` prints. */
function inputOf(units: readonly Unit[], at: number, text: string): string {
  const [unit, before] = [units[at], units[at - 1]];
  if (unit?.stdin === 'text') {
    const given = text.slice(unit.span?.from ?? 0);
    const word = /^[^\n]*?<<<\s*/.exec(given);
    // The text of a here-document begins in the next line.
    return word === null ? given.slice(given.indexOf('\n') + 1) : given.slice(word[0].length);
  }
  if (unit?.stdin !== 'pipe' || before === undefined) return '';
  if (before.stdin === 'text') return inputOf(units, at - 1, text);
  const [first, ...words] = before.argv;
  return /^(?:echo|printf)$/.test(literalOf(first)) ? words.map(literalOf).join('\n') : '';
}

function permissionWeight(words: readonly string[]): number {
  if (
    words.some((word) => /^0?[0-7]?[0-7][0-7][2367]$|^[ugoa]*[+=][rwx]*s|^[oa]+[+=]\w*w/.test(word))
  ) {
    return 3;
  }
  return words.some((word) => /^-\w*R|^--recursive$/.test(word)) ? 2 : 1;
}

/** 0: nothing, or nothing that would be missed. */
function deletes(program: string, line: string, unit: Unit, place: Place): number {
  const finds = program === 'find' && / -delete\b/.test(line);
  if (!REMOVERS.has(program) && !finds) return 0;
  const args = unit.argv.slice(1).filter((arg) => !literalOf(arg).startsWith('-'));
  const cwd = unit.cwds?.[0] ?? place.cwd;
  // Of a word that only the shell knows, the beginning is taken; without one it is the project's.
  const paths = (finds ? args.slice(0, 1) : args).map((arg) =>
    absolute(arg.kind === 'literal' ? tilde(arg.value, place.home) : arg.prefix || 'x', cwd),
  );
  const serious = paths.filter((path) => !isRoutine(path, place));
  if (serious.length === 0) return 0;
  const whole = (path: string): boolean => path === place.project && !finds;
  if (serious.some((path) => !isInside(path, place.project) || whole(path))) return 3;
  return finds || /(?:^| )(?:-\w*[rR]|--recursive\b)/.test(line) ? 2 : 1;
}

function tilde(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;
}

const TEMPORARY = ['/tmp', '/private/tmp', '/var/tmp', '/var/folders', '/dev/shm'];
const BUILT_NAMES = 'node_modules|dist|build|out|target|coverage|__pycache__|\\.next|\\.turbo|tmp';
const BUILT = new RegExp(`(?:^|/)(?:${BUILT_NAMES}|\\.\\w*cache)(?:/|$)`);

function isRoutine(path: string, { project, home }: Roots): boolean {
  if (isInside(path, project)) return BUILT.test(path.slice(project.length));
  if (isInside(path, home) && home !== '/') return false;
  return TEMPORARY.some((folder) => path !== folder && isInside(path, folder));
}

const UPLOADING = new RegExp(
  [
    '\\s(?:--data\\S*|--form\\S*|--upload-file|--json)(?:[\\s=]|$)',
    '\\s--(?:post|body)-\\w+',
    '\\s(?:-X|--request|--method)[\\s=]?(?:POST|PUT|PATCH|DELETE)\\b',
  ].join('|'),
);

/** Of curl; to wget they are other words. Those in front of them take no value. */
const UPLOADING_SHORT = /\s-[46afgiIjkLnNOpqRsSv#]*[dFT]/;

function sends(program: string, joined: string): number {
  const words = joined.split(' ');
  const line = ` ${joined} `;
  const hosts = words.filter((word) => /^[a-z][a-z0-9+.-]*:\/\/|^[\w.-]+@?[\w.-]*:/i.test(word));
  if (FETCHERS.has(program)) {
    const short = program === 'curl' && UPLOADING_SHORT.test(line);
    const posts = short || UPLOADING.test(line) || /^ (?:POST|PUT|PATCH|DELETE) /.test(line);
    const addresses = words.filter((word) =>
      /:\/\/|^[\w.-]+\.[a-z]{2,}(?:\/|$)|^localhost/i.test(word),
    );
    return posts && !(addresses.length > 0 && addresses.every((one) => LOCAL.test(one))) ? 2 : 0;
  }
  if (COPIERS.has(program)) return hosts.length > 0 ? 2 : 0;
  if (PIPES.has(program)) {
    return words.some((word) => LOCAL.test(word) || /^-\w*[lz]/.test(word)) ? 0 : 2;
  }
  if (program === 'ssh') return 1;
  return MAILERS.has(program) ? 2 : 0;
}

/** A file outside of the project that is no temporary one. */
function overwrites(program: string, unit: Unit, place: Place): boolean {
  const outside = (path: string): boolean =>
    path !== '' && !isSink(path) && !isInside(path, place.project) && !isRoutine(path, place);
  const cwd = unit.cwds?.[0] ?? place.cwd;
  const redirected = unit.redirects.some(({ effect, target }) => {
    const written = effect === 'write' || effect === 'readwrite';
    const path = literalOf(target);
    return written && path !== '' && outside(absolute(path, cwd));
  });
  if (redirected) return true;
  if (!WRITERS.has(program)) return false;
  return touchedWords(unit.argv, readCall(unit.argv)).some(
    ({ access, word: { value } }) =>
      access === 'write' && outside(absolute(value ?? place.project, cwd)),
  );
}
