// Who else wrote a commit: every `git commit` in a command gets `--trailer`, so that git itself
// puts the line where trailers belong. Commands are parsed, not searched: quotes, comments and
// here-documents stay as they are, and so does every other byte. Git is also told to leave out a
// trailer that the message already has (`ifexists`), or amending would add it again.
//
// Left as they are, for they cannot be changed safely: a commit inside `bash -c '...'`, `eval` or
// an alias, one inside backquotes with backslashes, one behind an option that is not known here,
// one from a template, and any text that does not parse. Limits: git before 2.32 has no `--trailer`
// and refuses it, and a message that turns out to be empty only when it runs (`-m "$EMPTY"`, an
// empty file, an editor or `--no-edit` that leaves nothing, or what the setting `commit.template`
// names) becomes a commit of the trailer alone, where git would have refused it.

import { type GitCall, gitCall } from '../text/shell-git.ts';
import { parseShell, type SimpleCommand, type Span } from '../text/shell-parse.ts';
import { commitOptions } from './git-commit-options.ts';

/** Cheap: false means that there is nothing to do. */
export function mayCommit(command: string): boolean {
  return command.includes('commit');
}

/** Whether the command runs `git commit` as far as its text tells. */
export function hasGitCommit(command: string): boolean {
  return (
    mayCommit(command) &&
    parseShell(command).commands.some((part) => gitCall(part)?.subcommand === 'commit')
  );
}

/** One line, `Key: value`; no backslash and no backquote, which backquotes would eat. */
const TRAILER = /^([A-Za-z][A-Za-z0-9-]*): *[^\0\r\n\\`]*[^\s\\`]$/;

/** The same command, in which every commit that it makes carries the trailer exactly once. */
export function withCoAuthor(command: string, trailer: string): string {
  const key = TRAILER.exec(trailer)?.[1];
  if (key === undefined || !mayCommit(command)) return command;
  const text = parseShell(command);
  if (!text.ok) return command;
  let result = '';
  let done = 0;
  for (const span of commitWords(text.commands, trailer)) {
    const once = `-c trailer.${key.toLowerCase()}.ifexists=addIfDifferent `;
    result += `${command.slice(done, span.from)}${once}${command.slice(span.from, span.to)}`;
    result += ` --trailer ${quoted(trailer)}`;
    done = span.to;
  }
  return result + command.slice(done);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Where the words `commit` are behind which the trailer goes, in order. */
function commitWords(commands: readonly SimpleCommand[], trailer: string): readonly Span[] {
  const spans = commands.flatMap((command) => {
    const call = gitCall(command);
    if (call?.subcommand !== 'commit' || call.word.span === undefined) return [];
    return wantsTrailer(command, call, trailer) ? [call.word.span] : [];
  });
  return spans.sort((a, b) => a.from - b.from);
}

function wantsTrailer(command: SimpleCommand, call: GitCall, trailer: string): boolean {
  // Git refuses an empty message, but not one that is empty but for its trailer.
  const { commits, messageEmpty, template } = commitOptions(call.args);
  if (!commits || messageEmpty || template) return false;
  const before = command.words.slice(0, command.words.indexOf(call.word));
  if (before.some(({ source }) => /commit\.template/i.test(source))) return false;
  const texts = [
    ...call.args.map((word) => word.literal ?? word.source),
    ...command.redirections.map(({ target, body }) => body ?? target?.source ?? ''),
  ];
  return !texts.some((text) => hasLine(text, trailer));
}

/** Whether the trailer is a line of the text, be it one that is still quoted. */
function hasLine(text: string, trailer: string): boolean {
  const wanted = trailer.toLowerCase();
  return text.split('\n').some((line) => {
    const bare = line
      .trim()
      .toLowerCase()
      .replace(/^--trailer=/, '');
    return bare === wanted || bare.replace(/^["']+|["')]+$/g, '') === wanted;
  });
}
