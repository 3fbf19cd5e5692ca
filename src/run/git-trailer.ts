// Co-authors of a commit: every `git commit` in a command gets `--trailer`, so that git itself puts
// the line where trailers belong. Commands are parsed, not searched: quotes, comments and
// here-documents stay as they are, and so does every other byte. Git is also told to leave out a
// trailer that the message already has (`ifexists`), or amending would add it again.
//
// Left as they are, for they cannot be changed safely: a commit inside `bash -c '...'`, `eval` or
// an alias, one inside backquotes with backslashes, one behind an option that is not known here,
// one from a template, and any text that does not parse. Limits: git before 2.32 has no `--trailer`
// and refuses it, and a message that turns out to be empty only when it runs (`-m "$EMPTY"`, an
// empty file, an editor or `--no-edit` that leaves nothing, or what the setting `commit.template`
// names) becomes a commit of the trailer alone, where git would have refused it.

import { isAbsolute, join } from 'node:path';
import { quoteWord } from '../text/printable.ts';
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

/**
 * The same command, in which every commit that it makes carries the trailer exactly once, but for
 * those in a directory where it is turned off.
 */
export function withCoAuthor(
  command: string,
  trailer: string,
  turnedOff: (directory: string) => boolean = () => false,
): string {
  const key = TRAILER.exec(trailer)?.[1] ?? '';
  let result = '';
  let done = 0;
  for (const { span, directory } of commitsIn(command, trailer)) {
    if (turnedOff(directory)) continue;
    const once = `-c trailer.${key.toLowerCase()}.ifexists=addIfDifferent `;
    result += `${command.slice(done, span.from)}${once}${command.slice(span.from, span.to)}`;
    result += ` --trailer ${quoteWord(trailer)}`;
    done = span.to;
  }
  return result + command.slice(done);
}

type Commit = {
  /** The word `commit`, after which the trailer goes. */
  readonly span: Span;
  /** The directory of the commit, relative to that of the command. */
  readonly directory: string;
};

/** The commits that get the trailer, in order. */
export function commitsIn(command: string, trailer: string): readonly Commit[] {
  if (!TRAILER.test(trailer) || !mayCommit(command)) return [];
  const { ok, commands } = parseShell(command);
  if (!ok) return [];
  let directory = '.';
  return [...commands]
    .sort((a, b) => (a.span?.from ?? 0) - (b.span?.from ?? 0))
    .flatMap((part) => {
      directory = resolved(directory, changedTo(part));
      const call = gitCall(part);
      if (call?.subcommand !== 'commit' || call.word.span === undefined) return [];
      if (!wantsTrailer(part, call, trailer)) return [];
      return [{ span: call.word.span, directory: directoryOf(part, call, directory) }];
    });
}

/**
 * Where `cd` goes, if its text says so. That of a subshell is taken for one of the whole command:
 * this decides no more than which settings of git are asked.
 */
function changedTo({ words }: SimpleCommand): string | undefined {
  if (words[0]?.literal !== 'cd') return undefined;
  return words.slice(1).find(({ literal }) => literal !== undefined && !/^-/.test(literal))
    ?.literal;
}

function resolved(directory: string, named: string | undefined): string {
  if (named === undefined) return directory;
  return isAbsolute(named) ? named : join(directory, named);
}

/** With the values of `-C`, each from the one before it on. */
function directoryOf(command: SimpleCommand, { word }: GitCall, from: string): string {
  const before = command.words.slice(0, command.words.indexOf(word));
  return before.reduce((directory, { literal }, at) => {
    const named = literal === '-C' ? before[at + 1]?.literal : undefined;
    return resolved(directory, named);
  }, from);
}

function wantsTrailer(command: SimpleCommand, call: GitCall, trailer: string): boolean {
  // Git refuses an empty message, but not one that is empty but for its trailer.
  const { commits, messageEmpty, template } = commitOptions(call.args);
  if (!commits || messageEmpty || template) return false;
  const before = command.words.slice(0, command.words.indexOf(call.word));
  if (before.some(({ source }) => /commit\.template/i.test(source))) return false;
  const texts = [...call.args.map((word) => word.literal ?? word.source), ...command.redirections];
  return !texts.some((text) => hasLine(text, trailer));
}

/** Whether the trailer is a line of the text, quoted or not. */
function hasLine(text: string, trailer: string): boolean {
  const wanted = trailer.toLowerCase();
  return text.split('\n').some((line) => {
    const bare = line
      .trim()
      .toLowerCase()
      .replace(/^--trailer=/, '');
    // Behind it stand a few quotes at most.
    const near = bare.length < wanted.length + 64;
    return bare === wanted || (near && bare.replace(/^["']+|["')]+$/g, '') === wanted);
  });
}
