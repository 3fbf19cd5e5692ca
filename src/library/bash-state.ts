// How the state of a bash outlives it, without a word on its output: a file that bash reads before
// the command (BASH_ENV), and one that it writes when it ends. In between the command runs as
// `bash -c` runs it: same messages, same line numbers, same status.
//
// Kept are the working directory and the directory stack, variables with their attributes (also
// what was unset), functions, aliases, the options of `set` and `shopt`, the umask and `$?`. A
// command's own EXIT trap runs at its end, behind the saving. Not kept, since they belong to one
// process: jobs, traps, open files, limits, the positional parameters, and variables that bash sets
// by itself; nor functions named `builtin` or `trap`, and builtins that were disabled. With
// `set -v` bash shows the line that saves, as it shows every line it reads.

import { quoteWord } from '../text/printable.ts';

const WHOLE = ' # whole\n'; // the end of the last line, so that a file that was cut is known

export type StartUp = {
  readonly saveTo: SaveTo;
  /** The state that an earlier shell has saved; undefined for a fresh shell. */
  readonly state: string | undefined;
  /**
   * Whether it begins with the `$?` of the one before. Only for a command that asks for it: bash
   * ends with it, too, when the command is nothing but an error of syntax.
   */
  readonly status: boolean;
};

/** For BASH_ENV. Runs before the command; `$?` and options are put back before its EXIT trap. */
export function startUpFile({ saveTo, state, status }: StartUp): string {
  const saving = SAVING.replaceAll('SAVE_STATE_TO', () => quoteWord(saveTo.state)).replace(
    'SAVE_CWD_TO',
    () => quoteWord(saveTo.cwd),
  );
  if (state === undefined) return `${saving}builtin shopt -s expand_aliases\n`;
  // Functions of the environment that were unset stay so.
  const fresh = 'builtin unset -f $(builtin compgen -A function)\n';
  // Last, because it may end with `set -eux`. A test is no name that could be a function.
  const goOn = status ? '&& [[ - ]]' : '|| [[ - ]]';
  return `${fresh}${saving}{ . ${quoteWord(state)} ${goOn}; } >/dev/null 2>&1\n`;
}

export function asksForStatus(command: string): boolean {
  return /\$\{?\?/.test(command);
}

/** A script for the next bash, and the working directory to start it in, as `pwd` prints it. */
type SaveTo = { readonly state: string; readonly cwd: string };

export function stateIsWhole(text: Uint8Array): boolean {
  return Buffer.from(text.subarray(-WHOLE.length)).toString() === WHOLE;
}

// On one line, so that the line numbers of the command's own trap are near.
const AT_END = `{ __cuff_status=$?; builtin unset -f trap || [[ - ]]; \
__cuff_save "$__cuff_status" "$SHELLOPTS" "\${BASHOPTS-}" "\${BASHPID-$$}" && [[ - ]]; } \
>/dev/null 2>&1`;

// Everything is a builtin, called so that no function or alias of the command gets in the way: in
// posix mode no function hides `unset`, and without one of that name `builtin` is itself. What the
// file restores, it restores in an order in which none of it is in force too early: functions and
// aliases behind all that could call them, options last, in a group that is read as a whole. There
// is no word splitting, since IFS may be anything. The saving is a subshell: it changes nothing.
// A subshell of the command has no state to save. A function that exits has locals: `declare -g`
// makes sure of a global under each, which is what is left when the locals are unset.
const SAVING = `builtin unset -v BASH_ENV
__cuff_save() (
  if [[ :$2: != *:posix:* ]]; then POSIXLY_CORRECT=y; fi
  unset -f builtin
  set +efkuvxET
  trap - DEBUG ERR RETURN
  __cuff_posix=
  if [[ :$2: == *:posix:* ]]; then
    __cuff_posix="\\\\builtin $(builtin declare -p POSIXLY_CORRECT);"
  fi
  builtin set +o posix
  builtin unset -f trap __cuff_save
  builtin shopt -u nocasematch
  if [[ $4 != "$$" ]]; then builtin exit "$1"; fi
  builtin enable alias compgen declare printf pwd read shopt umask || builtin exit "$1"
  __cuff_list=$(builtin compgen -v) || builtin exit "$1"
  builtin declare -p >|SAVE_STATE_TO
  while builtin read -r __cuff_line; do
    case $__cuff_line in
      declare\\ -*=*) ;;
      declare\\ -*)
        __cuff_name=\${__cuff_line##* }
        case $'\\n'$__cuff_list$'\\n' in
          *$'\\n'"$__cuff_name"$'\\n'*) ;;
          *) __cuff_list+=$'\\n'$__cuff_name ;;
        esac
        ;;
    esac
  done <SAVE_STATE_TO
  __cuff_cwd=$(builtin pwd && builtin printf x) || builtin exit "$1"
  __cuff_cwd=\${__cuff_cwd%$'\\n'x}
  {
    builtin umask -p
    builtin printf 'if cd -- %q; then unset -v PWD\\n%s\\nfi\\n' "$__cuff_cwd" \\
      "$(builtin declare -p PWD)"
    for ((__cuff_at = \${#DIRSTACK[@]} - 1; __cuff_at > 0; __cuff_at--)); do
      builtin printf 'pushd -n -- %q\\n' "\${DIRSTACK[__cuff_at]}"
    done
    builtin printf 'unset -v $(compgen -e -X PWD)\\n'
    if [[ $3 ]]; then
      builtin printf 'shopt -u $(compgen -A shopt -X "compat*")\\nshopt -s %s\\n' "\${3//:/ }"
    else
      builtin shopt -p
    fi
    builtin printf 'shopt -u expand_aliases\\n'
    while [[ $__cuff_list ]]; do
      __cuff_name=\${__cuff_list%%$'\\n'*}
      __cuff_list=\${__cuff_list:\${#__cuff_name}+1}
      case $__cuff_name in
        __cuff_* | _ | BASH | BASHOPTS | BASHPID | BASH_ALIASES | BASH_ARG[CV] | BASH_ARGV0) ;;
        BASH_CMDS | BASH_COMMAND | BASH_EXECUTION_STRING | BASH_LINENO | BASH_MONOSECONDS) ;;
        BASH_REMATCH | BASH_SOURCE | BASH_SUBSHELL | BASH_TRAPSIG | BASH_VERSINFO) ;;
        BASH_VERSION | BASH_XTRACEFD | DIRSTACK | EPOCHREALTIME | EPOCHSECONDS | EUID) ;;
        FUNCNAME | GROUPS | HISTCMD | LINENO | PIPESTATUS | POSIXLY_CORRECT | PPID | PWD) ;;
        RANDOM | SECONDS | SHELLOPTS | SRANDOM | UID) ;;
        *)
          if [[ \${#FUNCNAME[@]} == 1 ]]; then
            builtin declare -p "$__cuff_name"
            builtin continue
          fi
          __cuff_line=$(builtin declare -p "$__cuff_name")
          case \${__cuff_line%% "$__cuff_name"*} in
            *-*n*) ;;
            *)
              builtin declare -g -- "$__cuff_name"
              for __cuff_at in "\${FUNCNAME[@]}"; do
                builtin unset -v "$__cuff_name" || builtin break
                __cuff_outer=$(builtin declare -p "$__cuff_name") || builtin break
                __cuff_line=$__cuff_outer
              done
              ;;
          esac
          if [[ $__cuff_line != "declare -- $__cuff_name" ]]; then
            builtin printf '%s\\n' "$__cuff_line"
          fi
          ;;
      esac
    done
    builtin alias -p
    builtin declare -f
    __cuff_list=$(builtin declare -F) || builtin exit "$1"
    while [[ $__cuff_list ]]; do
      __cuff_line=\${__cuff_list%%$'\\n'*}
      __cuff_list=\${__cuff_list:\${#__cuff_line}+1}
      __cuff_line=\${__cuff_line#declare }
      if [[ $__cuff_line != '-f '* ]]; then
        builtin printf '\\\\builtin declare %s %q\\n' "\${__cuff_line%% *}" "\${__cuff_line#* }"
      fi
    done
    __cuff_set=\${2:+:$2}
    __cuff_set=\${__cuff_set//:noexec}
    __cuff_set=\${__cuff_set//:onecmd}
    builtin printf '{ \\\\builtin set +o braceexpand +o hashall +o interactive-comments%s; %s' \\
      "\${__cuff_set//:/ -o }" "$__cuff_posix"
    case :$3: in
      *:expand_aliases:* | ::) builtin printf ' \\\\builtin shopt -s expand_aliases;' ;;
    esac
    builtin printf ' \\\\builtin return %s; }${WHOLE.trimEnd()}\\n' "$1"
  } >|SAVE_STATE_TO
  builtin pwd >|SAVE_CWD_TO
  builtin exit "$1"
)
trap() {
  { builtin local -; builtin set +kxET; } 2>/dev/null
  builtin local __cuff_own=$(($# < 2)) __cuff_line
  for __cuff_line in "$@"; do
    case $__cuff_line in
      0 | *[Ee][Xx][Ii][Tt]*) __cuff_own=1 ;;
    esac
  done
  if [[ $__cuff_own == 0 || \${BASHPID-$$} != "$$" ]]; then
    builtin trap "$@" # the last command of all, because it may be for DEBUG
  else
    builtin trap -- "\${__cuff_trap:--}" EXIT
    builtin trap "$@"
    builtin local __cuff_status=$?
    __cuff_line=$(builtin trap -p EXIT)
    __cuff_line=\${__cuff_line#trap -- }
    builtin eval "__cuff_trap=\${__cuff_line% EXIT}"
    builtin trap -- '${AT_END}'$'\\n'"$__cuff_trap" EXIT
    builtin return "$__cuff_status"
  fi
}
builtin trap '${AT_END}' EXIT
`;
