// What an argument is called here that somebody knows by another name. Models carry the names of
// one tool into the next: `cmd` for `command`, `shell_id` for `bash_id`, `wait` for `wait_ms`. By
// letters alone `cmd` would be nearest to `cwd`.

import { nearest } from '../text/problems.ts';

/** Names of one thing, in tools that models know. */
const SAME: readonly (readonly string[])[] = [
  ['command', 'cmd', 'commands', 'script', 'code'],
  ['cwd', 'workdir', 'working_directory', 'working_dir', 'directory', 'dir'],
  ['background', 'run_in_background', 'is_background', 'detach'],
  ['id', 'bash_id', 'shell_id', 'task_id', 'session_id', 'run_id'],
  ['timeout', 'timeout_ms', 'timeout_seconds', 'wait_ms', 'yield_time_ms'],
  ['max_bytes', 'max_output_tokens', 'max_output_length', 'max_output'],
  ['stdin', 'chars', 'input'],
  ['pattern', 'query', 'filter', 'for'],
];

/** The known name that is most probably meant, if one is. */
export function meantName(word: string, known: readonly string[]): string | undefined {
  const bare = bareName(word);
  return (
    known.find((one) => bareName(one) === bare) ??
    only(known.filter((one) => SAME.some((names) => names.includes(one) && has(names, bare)))) ??
    nearest(word, known) ??
    only(known.filter((one) => sharesWord(one, word)))
  );
}

function has(names: readonly string[], bare: string): boolean {
  return names.some((one) => bareName(one) === bare);
}

/** `runInBackground` and `run-in-background` are `run_in_background`. */
function bareName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** `wait` and `wait_ms`, `slow` and `slow_ok`. */
function sharesWord(one: string, word: string): boolean {
  const words = one.split('_');
  return words.includes(word.toLowerCase()) || word.toLowerCase().split(/[_-]/).includes(one);
}

function only<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined;
}
