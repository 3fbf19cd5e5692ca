// What a command did that deserves a second look, by its text alone: deleted, published, sent away,
// read secrets, changed permissions. It is for people who read what agents did before there were
// any rules, so it names the part of the command and how much it matters, and decides nothing.
// Cleaning up temporary files and build results is what every build does, and is left out.

import { literalOf } from './analyse/args.ts';
import { analyse } from './analyse/index.ts';
import type { Decision } from './decision.ts';
import { DEED_KINDS, type DeedKind } from './deed-kinds.ts';
import { absolute, isInside, type Roots } from './paths.ts';
import { readCall } from './profiles/index.ts';
import { isShell, programName, showsEnvironment } from './programs.ts';
import { isSink } from './protected.ts';
import { unitText } from './reasons.ts';
import { touchedWords } from './touched.ts';
import type { Unit } from './unit.ts';

export type Act = {
  readonly kind: DeedKind;
  /** From 1 to 3: how much it matters among its kind. */
  readonly weight: number;
  /** The part of the command. */
  readonly part: string;
};

type Place = Roots & { readonly cwd: string };

/** `decision`: what a policy without rules says. Each kind once, with its weightiest part. */
export function deedsOf(text: string, place: Place, decision: Decision): readonly Act[] {
  const units = isWorthReading(text) ? analyse(text, place).units : [];
  const found = [
    ...decision.reasons.flatMap(reasonDeed),
    ...units.flatMap((unit) => unitDeeds(unit, place)),
    ...remoteCode(text, units),
  ];
  const best = new Map<DeedKind, Act>();
  for (const deed of found) {
    const known = best.get(deed.kind);
    if (known === undefined || known.weight < deed.weight) best.set(deed.kind, deed);
  }
  if (best.has('protected')) best.delete('overwrote'); // the same file, said once
  return DEED_KINDS.flatMap((kind) => best.get(kind) ?? []);
}

/** Reading a text takes a while, and most commands have none of these. */
const WORTH_READING = new RegExp(
  `>|\\b(?:${[
    ...['env', 'printenv', 'set', 'export', 'declare', 'rm', 'rmdir', 'unlink', 'shred', 'trash'],
    ...['find', 'sudo', 'doas', 'su', 'pkexec', 'chmod', 'chown', 'chgrp', 'chattr', 'setfacl'],
    ...['curl', 'wget', 'https?', 'xh', 'scp', 'rsync', 'sftp', 'nc', 'ncat', 'netcat', 'telnet'],
    ...['socat', 'ssh', 'aws', 'mail', 'sendmail', 'mutt', 'publish', 'upload', 'deploy', 'apply'],
    ...['destroy', 'delete', 'uninstall', 'prune', 'volumes?', 'dropdb', 'redis-cli', 'psql'],
    ...['mysql', 'sqlite3', 'kubectl', 'helm', 'gh', 'docker', 'podman', 'gem', 'cp', 'mv'],
    ...['install', 'ln', 'tee', 'dd', 'truncate', 'sed'],
  ].join('|')})\\b`,
);

const GIT = /\bgit\b/;
const OF_GIT = /\b(?:clean|reset|stash|checkout|restore|branch|push)\b/;

function isWorthReading(text: string): boolean {
  return WORTH_READING.test(text) || (GIT.test(text) && OF_GIT.test(text));
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

function unitDeeds(unit: Unit, place: Place): readonly Act[] {
  const program = programName(literalOf(unit.argv[0]));
  const words = unit.argv.slice(1, WORDS_MAX).map((arg) => literalOf(arg) || arg.source);
  const said = program === 'git' ? withoutGitOptions(words) : words;
  const line = said.join(' ').slice(0, LINE_LENGTH_MAX);
  const part = unitText(unit);
  const deed = (kind: DeedKind, weight: number): Act => ({ kind, weight, part });
  const deeds: Act[] = [];
  if (showsEnvironment(unit)) deeds.push(deed('secret', 1));
  if (ELEVATING.has(program)) deeds.push(deed('elevated', 2));
  const deleted = deletes(program, line, unit, place);
  if (deleted > 0) deeds.push(deed('deleted', deleted));
  const published = publishes(program, line);
  if (published > 0) deeds.push(deed('published', published));
  const sent = sends(program, line);
  if (sent > 0) deeds.push(deed('sent', sent));
  if (PERMISSIONS.has(program)) deeds.push(deed('permissions', permissionWeight(words)));
  if (overwrites(program, unit, place)) deeds.push(deed('overwrote', 2));
  return deeds;
}

// What a person typed is far shorter, and patterns take long for more.
const WORDS_MAX = 256;
const LINE_LENGTH_MAX = 4_096;

const GIT_VALUED = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace']);

/** From the word on that says what git is to do. */
function withoutGitOptions(words: readonly string[]): readonly string[] {
  let at = 0;
  while (words[at]?.startsWith('-')) at += GIT_VALUED.has(words[at] ?? '') ? 2 : 1;
  return words.slice(at);
}

const ELEVATING = new Set(['sudo', 'doas', 'su', 'pkexec']);
const PERMISSIONS = new Set(['chmod', 'chown', 'chgrp', 'setfacl', 'chattr']);

function permissionWeight(words: readonly string[]): number {
  if (
    words.some((word) => /^0?[0-7]?[0-7][0-7][2367]$|^[ugoa]*[+=][rwx]*s|^[oa]+[+=]\w*w/.test(word))
  ) {
    return 3;
  }
  return words.some((word) => /^-\w*R|^--recursive$/.test(word)) ? 2 : 1;
}

const REMOVERS = new Set(['rm', 'rmdir', 'unlink', 'shred', 'trash']);

/** 0: nothing, or nothing that would be missed. */
function deletes(program: string, line: string, unit: Unit, place: Place): number {
  if (program === 'git') return discards(line);
  if (DESTROYING.some((pattern) => pattern.test(`${program} ${line}`))) return 3;
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

/** Work in a repository that is not committed, or what no branch leads to any more. */
function discards(line: string): number {
  if (/^clean\b(?!.*(?:\s-\w*n|--dry-run)).*\s-\w*f/.test(line)) return 3;
  if (/^reset\b.*--hard\b/.test(line) || /^stash (?:drop|clear)\b/.test(line)) return 2;
  if (/^checkout\b.*\s(?:--\s|\.$)/.test(line) || /^restore\b(?!.*--staged)/.test(line)) return 1;
  return /^branch\b.*\s(?:-D|--delete --force)\b/.test(line) ? 1 : 0;
}

const DESTROYING: readonly RegExp[] = [
  /^(?:docker|podman) (?:system|volume|image|container|builder) prune\b/,
  /^(?:docker|podman) volume rm\b|^docker[- ]compose down\b.*\s(?:-v|--volumes)\b/,
  /^kubectl delete\b|^helm (?:uninstall|delete)\b|^terraform destroy\b/,
  /^dropdb\b|^(?:psql|mysql|sqlite3)\b[\s\S]*\b(?:drop (?:table|database)|truncate table)\b/i,
  /^aws s3 (?:rm|rb)\b|^gh (?:repo|release) delete\b|^redis-cli\b.*\bflush(?:all|db)\b/i,
];

const FORCED = /\s(?:-\w*f\w*|--force\S*|--mirror|--delete|-d|\+\S+|:\S+)(?:\s|$)/;

function publishes(program: string, line: string): number {
  if (program === 'git' && /^push\b/.test(line) && !/--dry-run|\s-n\b/.test(line)) {
    return FORCED.test(` ${line} `) ? 3 : /\b(?:main|master)\b/.test(line) ? 2 : 1;
  }
  const whole = `${program} ${line}`;
  if (/--dry-run\b/.test(whole)) return 0;
  return PUBLISHING.find(([pattern]) => pattern.test(whole))?.[1] ?? 0;
}

const PUBLISHING: readonly (readonly [RegExp, number])[] = [
  [/^(?:npm|pnpm|yarn|bun|cargo|poetry|uv) publish\b|^yarn npm publish\b|^twine upload\b/, 3],
  [/^gem push\b|^mvn\b.*\bdeploy\b|^gh pr merge\b|^gh release create\b/, 3],
  [/^terraform apply\b|^kubectl (?:apply|create|replace|patch|scale)\b/, 3],
  [/^helm (?:install|upgrade)\b|^(?:docker|podman) push\b|^gh workflow run\b/, 2],
  [/^(?:wrangler|vercel|netlify|firebase|fly|flyctl|serverless|sls|cdk) deploy\b/, 2],
  [/^gh (?:pr|issue|gist|repo) (?:create|comment|edit|close)\b|^gh api\b.*(?:-X|--method)/, 1],
];

const LOCAL = new RegExp(
  '^(?:[a-z]+://(?:[^/@\\s]*@)?)?' +
    '(?:localhost|127\\.\\d+\\.\\d+\\.\\d+|0\\.0\\.0\\.0|\\[::1\\])(?=[:/?#]|$)',
  'i',
);
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
  if (program === 'curl' || program === 'wget' || program === 'http' || program === 'xh') {
    const short = program === 'curl' && UPLOADING_SHORT.test(line);
    const posts = short || UPLOADING.test(line) || /^ (?:POST|PUT|PATCH|DELETE) /.test(line);
    const addresses = words.filter((word) =>
      /:\/\/|^[\w.-]+\.[a-z]{2,}(?:\/|$)|^localhost/i.test(word),
    );
    return posts && !(addresses.length > 0 && addresses.every((one) => LOCAL.test(one))) ? 2 : 0;
  }
  if (['scp', 'rsync', 'sftp'].includes(program)) return hosts.length > 0 ? 2 : 0;
  if (['nc', 'ncat', 'netcat', 'telnet', 'socat'].includes(program)) {
    return words.some((word) => LOCAL.test(word) || /^-\w*[lz]/.test(word)) ? 0 : 2;
  }
  if (program === 'ssh') return 1;
  if (program === 'aws') return /^ s3 (?:cp|sync|mv) .*s3:\/\//.test(line) ? 2 : 0;
  return ['mail', 'sendmail', 'mutt'].includes(program) ? 2 : 0;
}

/** `bash -c "$(curl ...)"`, `bash <(curl ...)`, `eval "$(curl ...)"`. */
const SUBSTITUTED =
  /\b(?:(?:ba|z|da)?sh(?: -\w+)*|eval|source) ["']?(?:\$\(|<\() ?(?:curl|wget) [^|;)\n]{0,200}/;
const FETCHERS = new Set(['curl', 'wget']);

/** `curl ... | sh`: whatever a server answers is run. */
function remoteCode(text: string, units: readonly Unit[]): readonly Act[] {
  const inner = SUBSTITUTED.exec(text)?.[0];
  if (inner !== undefined) return [{ kind: 'remote-code', weight: 3, part: inner }];
  const name = ({ argv }: Unit): string => programName(literalOf(argv[0]));
  const fetcher = units.find((unit) => FETCHERS.has(name(unit)));
  if (fetcher === undefined || fetcher.argv.some((arg) => LOCAL.test(literalOf(arg)))) return [];
  const runner = units.find(
    (unit) =>
      unit.stdin === 'pipe' &&
      (isShell(name(unit)) || /^(?:python3?|node|perl|ruby)$/.test(name(unit))) &&
      readsInput(unit),
  );
  if (runner === undefined) return [];
  return [{ kind: 'remote-code', weight: 3, part: `${unitText(fetcher)} | ${unitText(runner)}` }];
}

/** No script of its own: `python3 -c ...` and `node -e ...` only read data. */
function readsInput({ argv }: Unit): boolean {
  const words = argv.slice(1).map(literalOf);
  return words.includes('-s') || words.every((word) => ['-', '--', '-x', '-u'].includes(word));
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

const WRITERS = new Set(['cp', 'mv', 'install', 'ln', 'tee', 'dd', 'truncate', 'sed', 'rsync']);
