// How the state of a bash outlives it, without a word on its output: a file that bash reads before
// the command (BASH_ENV), and one that it writes when it ends. In between the command runs as
// `bash -c` runs it: same messages, same line numbers, same status.
//
// Kept are the working directory and the directory stack, variables with their attributes (also
// what was unset), functions, aliases, the options of `set` and `shopt`, and the umask. A command's
// own EXIT trap runs at its end, behind the saving. Not kept, since they belong to one process:
// jobs, traps, open files and the positional parameters. With `set -v` bash shows the line that
// saves, as it shows every line it reads.

import { quoteWord } from '../text/printable.ts';

const WHOLE = ' # whole\n'; // the end of the last line, so that a file that was cut is known

/**
 * For BASH_ENV. Runs before the command; `$?` and options are put back before its EXIT trap.
 * `state` is what an earlier one has saved, undefined for a fresh shell.
 */
export function startUpFile(saveTo: SaveTo, state: string | undefined): string {
  const before = state === undefined ? 'shopt -s expand_aliases' : `. ${quoteWord(state)}`;
  const saving = SAVING.replace('SAVE_STATE_TO', () => quoteWord(saveTo.state));
  // Last, because it may end with `set -eux`.
  return `${saving.replace('SAVE_CWD_TO', () => quoteWord(saveTo.cwd))}${before}\n`;
}

/** A script for the next bash; and the working directory as it is, for whoever starts that. */
export type SaveTo = { readonly state: string; readonly cwd: string };

export function stateIsWhole(text: string): boolean {
  return text.endsWith(WHOLE);
}

// Everything is a builtin: neither PATH nor functions of the command's own get in the way. Names
// that bash itself sets, or does not let anybody set, are left out. Subshells have no state to
// save. `set +o` cannot be asked in a substitution, which has no -e; so SHELLOPTS is.
const SAVING = `unset -v BASH_ENV
__cuff_save() {
  local __cuff_status=$? __cuff_set=$SHELLOPTS __cuff_name __cuff_at
  if [[ \${BASHPID-$$} != "$$" ]]; then return "$__cuff_status"; fi
  local -
  set +efux +o posix
  unset -f trap __cuff_save
  {
    builtin printf 'unset -v $(compgen -e)\\n'
    builtin umask -p
    builtin printf 'cd -- %q 2>/dev/null\\n' "$PWD"
    for ((__cuff_at = \${#DIRSTACK[@]} - 1; __cuff_at > 0; __cuff_at--)); do
      builtin printf 'pushd -n -- %q >/dev/null 2>&1\\n' "\${DIRSTACK[__cuff_at]}"
    done
    builtin shopt -p
    while IFS= builtin read -r __cuff_name; do
      case $__cuff_name in
        __cuff_* | _ | BASH | BASHOPTS | BASHPID | BASH_* | COMP_* | DIRSTACK | EPOCH* | EUID) ;;
        FUNCNAME | GROUPS | HISTCMD | LINENO | PIPESTATUS | PPID | *RANDOM | SECONDS) ;;
        SHELLOPTS | UID) ;;
        *) builtin declare -p "$__cuff_name" ;;
      esac
    done < <(builtin compgen -v)
    builtin declare -f
    builtin declare -Fx
    builtin alias -p
    builtin printf 'set +o braceexpand +o hashall +o interactive-comments'
    IFS=:
    builtin printf -- ' -o %s' $__cuff_set
    builtin printf '${WHOLE.trimEnd()}\\n'
  } >|SAVE_STATE_TO
  builtin printf %s "$PWD" >|SAVE_CWD_TO
  return "$__cuff_status"
}
trap() {
  { local -; set +x; } 2>/dev/null
  if [[ \${BASHPID-$$} != "$$" ]]; then
    builtin trap "$@"
    return
  fi
  builtin trap -- "\${__cuff_trap:--}" EXIT
  builtin trap "$@"
  local __cuff_status=$? __cuff_line
  __cuff_line=$(builtin trap -p EXIT)
  __cuff_line=\${__cuff_line#trap -- }
  eval "__cuff_trap=\${__cuff_line% EXIT}"
  builtin trap -- '{ __cuff_save && :; } 2>/dev/null'$'\\n'"$__cuff_trap" EXIT
  return "$__cuff_status"
}
builtin trap '{ __cuff_save && :; } 2>/dev/null' EXIT
`;
