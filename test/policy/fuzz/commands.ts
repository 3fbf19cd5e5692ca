// Commands of bash: simple ones, lists, compounds, here-documents, and the many builtins and
// programs that run other commands. Nothing here reaches for a file outside of the jail, where
// everything runs; `touch` and its like do nothing there.
import type { Chance } from './random.ts';
import {
  arithmetic,
  disguised,
  dollarSingle,
  type Inner,
  subscript,
  substitution,
  variable,
  word,
} from './words.ts';

const PROGRAMS = [
  'touch',
  'rm',
  'git',
  'ls',
  'cat',
  'echo',
  'grep',
  'printf',
  'npm',
  'id',
  'nosuch',
];
const KEYWORDS = [
  'if',
  'then',
  'do',
  'done',
  'fi',
  'esac',
  'in',
  '}',
  'time',
  'function',
  '[[',
  '!',
];

const BASH_OPTIONS = ['-ec', '-xc', '-lc', '+x -c', '-c --', '-O extglob -c', '-e -c', '-euxc'];
const ENV_OPTIONS = ['', '-i ', 'A=1 ', '-u HOME ', '-- ', '-C src ', '-', 'PATH=evil ', '-v '];
const READERS = ['head -c 3', 'read x', 'cat', 'exec <a.txt', 'read -n 4', 'git x', 'head -n 1'];
const SIGNALS = ['EXIT', '0', 'DEBUG', 'ERR', 'exit', 'SIGEXIT', 'RETURN', 'USR1'];
const DIRECTORIES = ['src', '..', '/', '-', '', '~', '"a b"', 'none', '-P src'];
const SET_OPTIONS = ['-- a b', '-x', '-e', '-f', '-a', '+B', '-o pipefail', '-k', '-n', '-u'];
const SHOPT_OPTIONS = ['extglob', 'nullglob', 'globstar', 'lastpipe', 'dotglob', 'failglob'];

export function snippet(by: Chance): string {
  let made = list(by, 3);
  while (by.once(3)) made += `${by.pick(['\n', '; ', '\n\n', ' && '])}${list(by, 2)}`;
  if (by.once(12)) made = `${preamble(by)}${made}`;
  if (by.once(10))
    made += by.pick([" # it's", '\n# "', ' #', '\r\n', '\n', ' ', ';', ' &', '\\\n']);
  return made;
}

function preamble(by: Chance): string {
  return by.pick([
    "shopt -s expand_aliases\nalias ls='touch aliased'\n",
    'shopt -s extglob\n',
    'shopt -s nullglob; ',
    'set -f; ',
    'set -a; ',
    'set -- touch b; ',
    'IFS=/; ',
    "IFS='u'; ",
    'x=touch; ',
    "x='touch a'; ",
    "x='a[$(touch inside)]'; ",
    'a=(touch b c); ',
    'declare -n y=x; ',
    'declare -i y; ',
    'set -o posix; ',
    'set +o braceexpand; ',
    'shopt -u sourcepath; ',
    'cd src; ',
    'cd src || exit; ',
    'pushd src; ',
    'CDPATH=evil; ',
    'unset x; ',
    'f() { touch "$@"; }; ',
    'git() { touch shadow; }; ',
    'set -e; ',
    'set -k; ',
  ]);
}

function list(by: Chance, depth: number): string {
  let made = pipeline(by, depth);
  while (by.once(4)) {
    made += by.pick([' && ', ' || ', '; ', '\n', ' & ', ';', '&&', '||', ' &&\n', ' ||\n# x\n']);
    made += pipeline(by, depth - 1);
  }
  return made;
}

function pipeline(by: Chance, depth: number): string {
  let made = command(by, depth);
  while (by.once(6)) made += by.pick([' | ', '|', ' |& ', ' |\n']) + command(by, depth - 1);
  if (by.once(20)) made = by.pick(['! ', 'time ', 'time -p ', '! time ', 'time -- ']) + made;
  return made;
}

function command(by: Chance, depth: number): string {
  if (depth <= 0 || !by.once(3)) return simple(by, depth);
  const kind = by.int(10);
  if (kind < 4) return compound(by, depth - 1);
  if (kind < 7) return runner(by, depth - 1);
  if (kind < 9) return builtin(by, depth - 1);
  return hereDocument(by, depth - 1);
}

const inner = (by: Chance): Inner => {
  return (depth) => (depth <= 0 ? simple(by, 0) : list(by, depth - 1));
};

function simple(by: Chance, depth: number): string {
  const parts: string[] = [];
  const blank = by.once(40) ? by.pick(['\t', '  ', ' \\\n', '\u00a0', '\r', '\v', '\u2003']) : ' ';
  if (by.once(10)) parts.push(assignment(by, depth));
  if (by.once(14)) parts.push(redirection(by, depth));
  const name = by.pick(PROGRAMS);
  parts.push(by.once(9) ? disguised(by, name) : name);
  for (let count = by.int(4); count > 0; count -= 1) {
    parts.push(by.once(40) ? by.pick(KEYWORDS) : word(by, depth, inner(by)));
    if (by.once(14)) parts.push(redirection(by, depth));
  }
  return parts.join(blank);
}

function assignment(by: Chance, depth: number): string {
  const name = variable(by);
  const value = (): string => word(by, depth - 1, inner(by));
  return by.oneOf([
    () => `${name}=${value()}`,
    () => `${name}=${value()}`,
    () => `${name}+=${value()}`,
    () => `${name}=`,
    () => `a[${subscript(by, depth - 1, inner(by))}]=${value()}`,
    () => `FOO=${value()}`,
  ]);
}

function redirection(by: Chance, depth: number): string {
  const target = by.once(3)
    ? word(by, depth - 1, inner(by))
    : by.pick(['out', '/dev/null', 'b.txt']);
  return by.oneOf([
    () => `>${target}`,
    () => `> ${target}`,
    () => `>>${target}`,
    () => `2>${target}`,
    () => `&>${target}`,
    () => `>&${target}`,
    () => `<${by.pick(['a.txt', 'none', '/dev/null'])}`,
    () => '2>&1',
    () => `<>${target}`,
    () => `>|${target}`,
    () => `{${by.pick(['fd', 'PATH', 'a[0]'])}}>${target}`,
    () => `<<<${word(by, depth - 1, inner(by))}`,
    () => `> >(${inner(by)(depth - 1)})`,
    () => `< <(${inner(by)(depth - 1)})`,
    () => '<&-',
    () => `&>>${target}`,
  ]);
}

function compound(by: Chance, depth: number): string {
  const some = (): string => list(by, depth);
  const value = (): string => word(by, depth, inner(by));
  const made = by.oneOf([
    () => `(${some()})`,
    () => `{ ${some()}; }`,
    () => `if ${some()}; then ${some()}; else ${some()}; fi`,
    () => `if ${some()}\nthen\n${some()}\nelif ${some()}; then :; fi`,
    () => `for ${variable(by)} in ${value()} ${value()}; do ${some()}; done`,
    () => `for ${variable(by)}\ndo ${some()}\ndone`,
    () => `for ((i=0;i<1;i++)); do ${some()}; done`,
    () => `for ((${arithmetic(by, depth, inner(by))};0;)) { ${some()}; }`,
    () => `while ${some()}; do ${some()}; break; done`,
    () => `until ${some()}; do ${some()}; break; done`,
    () => `case ${value()} in ${value()}) ${some()};; (a|*) ${some()};& b) ${some()};;& esac`,
    () => `case a in\na) ${some()}\n;;\nesac`,
    () => `select ${variable(by)} in ${value()}; do ${some()}; break; done <<< 1`,
    () => `f() { ${some()}; }; f ${value()}`,
    () => `function f { ${some()}; }\nf`,
    () => `function ${by.pick(['git', 'g-h', 'ls'])}() (${some()}); git; ls`,
    () => `f() ${by.pick(['if', 'while'])} ${some()}; ${by.pick(['then', 'do'])} :; fi; f`,
    () => `coproc ${some()}`,
    () => `coproc C { ${some()}; }`,
    () => `coproc ${value()} { ${some()}; }`,
    () => `function ${value()} { ${some()}; }`,
    () => `[[ ${value()} ${by.pick(['==', '=~', '!=', '-eq', '<', '-nt'])} ${value()} ]]`,
    () => `[[ -n ${value()} && ( -v x || ${value()} = b ) ]] && ${some()}`,
    () => `((${arithmetic(by, depth, inner(by))}))`,
    () => `(( ${arithmetic(by, depth, inner(by))} )) || ${some()}`,
    () => `((${some()}); ${some()})`,
    () => `${assignment(by, depth)}`,
    () => `a=(${value()} [${subscript(by, depth, inner(by))}]=${value()})`,
    () =>
      `${by.pick(['a', 'a+', 'declare -A a', 'local a', 'readonly a'])}=(${elements(by, depth)})`,
    () => `a=(${elements(by, depth)})\\\n${by.pick(['', ' ', ';', 'b'])}`,
    () => `for x in touch a; do $x b; done`,
    () => `${redirection(by, depth)}`,
  ]);
  return by.once(8) ? `${made} ${redirection(by, depth)}` : made;
}

/** Of an array, with all that may stand between them. */
function elements(by: Chance, depth: number): string {
  const value = (): string => word(by, depth, inner(by));
  let made = '';
  do {
    made += by.oneOf([
      value,
      () => `[${subscript(by, depth, inner(by))}]${by.pick(['=', '+='])}${value()}`,
      () => `[${value()}]=`,
      () => '# it\n',
    ]);
    made += by.pick([' ', '\n', '\\\n', '  ', '\t']);
  } while (!by.once(2));
  return made;
}

/** The text as one word, in one of the ways to quote it. */
function quoted(by: Chance, text: string): string {
  return by.oneOf([
    () => `'${text.replaceAll("'", "'\\''")}'`,
    () => `"${text.replace(/["`$\\]/g, '\\$&')}"`,
    () => dollarSingle(by, text),
    () => text.replace(/[^A-Za-z0-9\n]/g, '\\$&'),
    () => `"${text}"`,
  ]);
}

function runner(by: Chance, depth: number): string {
  const some = (): string => simple(by, depth);
  const text = (): string => quoted(by, list(by, depth));
  return by.oneOf([
    () => `eval ${text()}`,
    () => `eval ${by.pick(['', '-- ', '"" '])}${some()}`,
    () => `${by.pick(['bash', 'sh'])} -c ${text()}`,
    () => `bash ${by.pick(BASH_OPTIONS)} ${text()}`,
    () => `bash -c ${by.pick(['\'"$@"\' x', "'$0'", "'$1 $2' x", '\'eval "$1"\' x'])} ${some()}`,
    () => `env ${by.pick(ENV_OPTIONS)} ${some()}`,
    () => `env -S ${quoted(by, some())}`,
    () => `timeout ${by.pick(['5', '-k 1 5', '-s KILL 5', '--signal=9 1', '-v 2s'])} ${some()}`,
    () => `nice ${by.pick(['', '-n 5 ', '-5 ', '--adjustment=1 '])}${some()}`,
    () => `nohup ${some()}`,
    () => `setsid ${by.pick(['', '-w ', '-f '])}${some()}`,
    () => `stdbuf ${by.pick(['-oL', '-o L', '--output=0'])} ${some()}`,
    () => `exec ${by.pick(['', '-a x ', '-c ', '-l ', '-cl ', '-- '])}${some()}`,
    () => `command ${by.pick(['', '-p ', '-v ', '-- ', '-pv '])}${some()}`,
    () => `builtin ${by.pick(['eval', 'command', 'exec', 'builtin eval', 'echo'])} ${some()}`,
    () => `trap ${text()} ${by.pick(SIGNALS)}`,
    () => `trap -- ${text()} EXIT`,
    () => `echo ${by.pick(['a b', '"a\nb"', '-- x', 'touch'])} | xargs ${xargs(by)}${some()}`,
    () => `find ${by.pick(['.', 'src', 'a.txt'])} ${by.pick(['', '-name a '])}${finds(by, some())}`,
    () => `time ${some()}`,
    () => `sh <<< ${text()}`,
    () => `bash <<'E'\n${by.pick(READERS)}\n${list(by, depth)}\nE\n`,
    () => `echo ${text()} | ${by.pick(['sh', 'bash', 'bash -s', 'bash /dev/stdin'])}`,
    () => `source <(${list(by, depth)})`,
    () =>
      `. ${by.pick(['./script.sh', 'script.sh', '/dev/stdin <<< "touch s"', '<(echo touch s)'])}`,
    () => `sudo ${some()}`,
    () => `bash script.sh`,
    () => `mapfile -C ${text()} -c 1 x <<< 1`,
    () => `alias ${by.pick(['ls', 'x'])}=${text()}`,
    () => `hash -p ./evil/git ls; ls`,
    () => `PATH=evil:$PATH git x`,
    () => `PS4=${text()}; set -x; ls`,
    () => `x=${text()}; ${by.pick(['eval "$x"', '$x', 'bash -c "$x"', `echo \${x@P}`, '"$x"'])}`,
  ]);
}

function xargs(by: Chance): string {
  return by.pick([
    '',
    '-n1 ',
    '-I{} ',
    '-I % ',
    '-0 ',
    '-r ',
    '-L 1 ',
    '-P2 ',
    '--max-args=1 ',
    '-t ',
  ]);
}

function finds(by: Chance, simpleOne: string): string {
  const verb = by.pick(['-exec', '-execdir', '-ok']);
  return by.oneOf([
    () => `${verb} ${simpleOne} \\;`,
    () => `${verb} ${simpleOne} {} +`,
    () => `-exec ${simpleOne} {} ';' -exec touch two \\;`,
    () => '-print',
  ]);
}

function builtin(by: Chance, depth: number): string {
  const sub = `a[${subscript(by, depth, inner(by))}]`;
  const name = by.pick([variable(by), variable(by), sub, `'${sub}'`]);
  const value = (): string => word(by, depth, inner(by));
  return by.oneOf([
    () => `read ${by.pick(['', '-r ', '-a ', '-p x '])}${name} <<< ${value()}`,
    () => `unset ${by.pick(['', '-v ', '-f '])}${name}`,
    () => `printf -v ${name} %s ${value()}`,
    () => `x=; printf ${value()}-vx ${by.pick(['touch', '%s'])}; $x ${value()}`,
    () => `: ${value()}; $_ ${value()}`,
    () => `declare ${by.pick(['', '-i ', '-a ', '-x ', '-n ', '-A ', '-g '])}${name}=${value()}`,
    () => `export ${by.pick(['', '-n ', '-f '])}${name}=${value()}`,
    () => `typeset ${name}=${value()}`,
    () => `readonly z=${value()}`,
    () => `let ${by.pick(["'x=1'", 'x=1', `'${sub}=1'`, '"y=$x"'])}`,
    () => `test -v ${name} && ${simple(by, depth)}`,
    () => `[ -v ${name} ] || ${simple(by, depth)}`,
    () => `[[ -v ${name} ]]`,
    () => `[ ${value()} -eq ${value()} ]`,
    () => `[[ ${by.pick(['x', '$x', "'a[$(touch eq)]'"])} -eq 1 ]]`,
    () => `cd ${by.pick(DIRECTORIES)}; ${simple(by, depth)}`,
    () => `cd src && ${simple(by, depth)}`,
    () => `(cd src; ${simple(by, depth)}); ${simple(by, 0)}`,
    () => `pushd src; popd; ${simple(by, depth)}`,
    () => `set ${by.pick(SET_OPTIONS)}; ${simple(by, depth)}`,
    () => `shopt -s ${by.pick(SHOPT_OPTIONS)}; ${simple(by, depth)}`,
    () => `mapfile ${name} <<< ${value()}`,
    () => `getopts ab ${name} -a`,
    () => `wait -n -p ${name}`,
    () => `exec ${redirection(by, depth)}`,
    () => `echo $((${arithmetic(by, depth, inner(by))}))`,
    () => `enable -n echo; echo ${value()}`,
    () => `return ${value()}`,
    () => `x=(${value()} ${value()}); "\${x[@]}"`,
    () => `x=touch; x+=${value()}; $x ${substitution(by, depth, inner(by))}`,
  ]);
}

function hereDocument(by: Chance, depth: number): string {
  const body = (): string => {
    return by.oneOf([
      () => `text ${substitution(by, depth, inner(by))}`,
      () => `it's "${word(by, depth, inner(by))}`,
      () => list(by, depth),
      () => `\\$(touch no) \\\n$(${simple(by, depth)})`,
      () => '\ttabbed',
      () => 'E\\\nOF',
      () => '',
    ]);
  };
  const name = by.pick([
    'cat',
    'sh',
    'bash',
    'grep x',
    'cat >out',
    'bash -s a',
    'while read x; do',
  ]);
  const end = name.startsWith('while') ? `${simple(by, 0)}; done` : '';
  const [head, tail] = end === '' ? [name, ''] : [`${name} ${end}`, ''];
  return by.oneOf([
    () => `${head} <<EOF${tail}\n${body()}\nEOF\n`,
    () => `${head} <<'EOF'\n${body()}\nEOF\n`,
    () => `${head} <<"E O F"\n${body()}\nE O F\n`,
    () => `${head} <<\\EOF | ${simple(by, 0)}\n${body()}\nEOF\n`,
    () => `${head} <<-EOF\n\t${body()}\n\tEOF\n`,
    () => `${head} <<A <<'B'; ${simple(by, 0)}\n${body()}\nA\n${body()}\nB\n`,
    () => `echo $(${head} <<EOF\n${body()}\nEOF\n)`,
    () => `echo "$(cat <<'EOF'\n${body()}\nEOF\n)"`,
    () => `(${head} <<EOF)\n${body()}\nEOF\n`,
    () => `${head} <<EOF && ${simple(by, depth)}\n${body()}\nEOF \nEOF`,
    () => `${head} <<$x\n${body()}\n$x\n`,
    () => `for x in 1; do ${head} <<EOF\n${body()}\nEOF\ndone`,
  ]);
}
