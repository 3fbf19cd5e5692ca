// Profiles of what bash does itself. Most of it is inert; what defines code, changes how the shell
// reads the rest of the text, or prints the whole environment is not. `echo`, `printf`, `test`,
// `kill` and their like, which are programs too, stand with those.

import type { Profile } from '../profile.ts';
import { each, type Profiles } from './common.ts';

/** What they are given is code, or decides what code is run. */
const CODE: Profile = { kind: 'exec', style: 'none', operands: 'exec*' };

const MOVING: Profiles = {
  cd: { kind: 'read', style: 'first', options: '-L -P -e -@', operands: 'path' },
  pushd: { kind: 'read', style: 'first', options: '-n -NUM +?int', operands: 'path' },
  popd: { kind: 'read', style: 'first', options: '-n -NUM +?int' },
  dirs: { kind: 'read', style: 'first', options: '-c -l -p -v -NUM +?int' },
  pwd: { kind: 'read', style: 'first', options: '-L -P --logical --physical', operands: 'word*' },
};

const FLOW: Profiles = {
  ':': { kind: 'read', style: 'none', operands: 'word*' },
  ...each('exit return break continue shift logout', {
    kind: 'read',
    style: 'none',
    operands: 'word',
  }),
  wait: { kind: 'read', style: 'first', options: '-n -f -p:word!config', operands: 'word*' },
  jobs: { kind: 'read', style: 'first', options: '-l -n -p -r -s -x!exec', operands: 'word*' },
  ...each('fg bg', { kind: 'read', style: 'none', operands: 'word*' }),
  disown: { kind: 'config', style: 'first', options: '-a -h -r', operands: 'word*' },
  suspend: { kind: 'config', options: '-f' },
  times: { kind: 'read' },
  caller: { kind: 'read', operands: 'int' },
};

/** Their values, and which of them matter, are read from the text by others. */
const DECLARE: Profile = {
  kind: 'read',
  style: 'first',
  // Alone they print all there is; `-i` evaluates what is assigned, `-n` names another variable.
  bare: 'config',
  options: '-p!secret -i!exec -n!config -f -F -a -A -g -I -l -r -t -u -x +?word',
  operands: 'word*',
};

const VARIABLES: Profiles = {
  ...each('declare typeset local readonly', DECLARE),
  export: {
    kind: 'read',
    style: 'first',
    bare: 'config',
    options: '-p!secret -f!exec -n',
    operands: 'word*',
  },
  // A name that is not known could have a subscript with a command in it, and so for `read`.
  unset: { kind: 'read', style: 'first', options: '-f!config -v -n', operands: 'word*' },
  read: {
    kind: 'read',
    style: 'first',
    options:
      '-a:word -d:word -e!config -E!config -i:word -n:int -N:int -p:word -r -s -t:word -u:int',
    operands: 'word*',
  },
  ...each('mapfile readarray', {
    kind: 'read',
    style: 'first',
    options: '-C:exec -c:int -d:word -n:int -O:int -s:int -t -u:int',
    operands: 'word',
  }),
  getopts: { kind: 'read', style: 'none', operands: 'word*' },
  // Subscripts are evaluated, and may have commands in them.
  let: CODE,
};

const LOOKING: Profiles = {
  type: { kind: 'read', style: 'first', options: '-a -f -p -P -t', operands: 'word*' },
  command: {
    kind: 'exec',
    style: 'first',
    options: '-p -v -V',
    operands: 'program',
    operandsWith: { '-v': 'word*', '-V': 'word*' },
  },
  help: { kind: 'read', style: 'first', options: '-d -m -s', operands: 'word*' },
  hash: { kind: 'read', style: 'first', options: '-p:word!exec -d -l -r -t', operands: 'word*' },
  history: {
    kind: 'read',
    style: 'first',
    options: '-c!delete -d:word!delete -w!write -a!write -r!config -n!config -s!config -p',
    operands: 'int',
  },
  // `-W` is expanded, with the commands that are in it.
  compgen: {
    kind: 'read',
    style: 'first',
    options: `-C:exec -F:exec -W:exec -V:word!config -a -b -c -d -e -f -g -j -k -s -u -v
      -o:word -A:word -G:word -P:word -S:word -X:word`,
    operands: 'word',
  },
};

const SET_FLAGS = `-b -e -f -h -m -n -o -u -v -x -B -C -E -T -a!config -k!config -p!config
-t!config -H!config
  -P!config -r!config`;

const SET_NAMES = [
  ...['pipefail', 'errexit', 'nounset', 'xtrace', 'verbose', 'noglob', 'noclobber', 'errtrace'],
  ...['functrace', 'monitor', 'notify', 'ignoreeof'],
];

/** `set -e -o pipefail -o nounset`: names behind `-o`, and options behind those. */
function setNames(depth: number): Profiles {
  const next = depth === 0 ? {} : { subcommands: setNames(depth - 1) };
  const profile: Profile = { kind: 'read', style: 'exact', options: SET_FLAGS, ...next };
  return Object.fromEntries(SET_NAMES.map((name) => [name, profile]));
}

const CHANGING: Profiles = {
  // Alone it prints every variable. Positional parameters are words like others.
  set: {
    kind: 'read',
    bare: 'config',
    style: 'exact',
    options: `${SET_FLAGS} +?word!config`,
    subcommands: setNames(3),
    behindDashes: 'word',
  },
  shopt: { kind: 'config', options: '-s!config -u!config -o -p -q', operands: 'word*' },
  ulimit: {
    kind: 'config',
    style: 'first',
    options: `-a -S -H -b -c -d -e -f -i -k -l -m -n -p -q -r -s -t -u -v -x -P -R -T`,
    operands: 'word',
  },
  umask: { kind: 'config', style: 'first', options: '-p -S', operands: 'word' },
  complete: {
    kind: 'config',
    style: 'first',
    options: '-p -C:exec -F:exec -W:exec -r!delete -o:word -A:word',
    operands: 'word*',
  },
  compopt: {
    kind: 'config',
    style: 'first',
    options: '-o:word -D -E -I +?word',
    operands: 'word*',
  },
};

const CODING: Profiles = {
  ...each('eval source . trap alias unalias bind enable fc coproc', CODE),
  ...each('exec builtin', {
    kind: 'exec',
    style: 'first',
    options: '-c -l -a:word',
    operands: 'program',
  }),
};

export const BUILTINS: Profiles = {
  ...MOVING,
  ...FLOW,
  ...VARIABLES,
  ...LOOKING,
  ...CHANGING,
  ...CODING,
};
