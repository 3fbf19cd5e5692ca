// What `cuff init` knows about every client: where its files are, which lines they get, and what
// cannot be had from it.

import { join } from 'node:path';
import type { AgentId } from '../../../text/agents.ts';
import { quoteWords } from '../../../text/printable.ts';
import type { Env } from '../../../types.ts';
import { type Edit, isHookEntry, jsonItem } from '../edits.ts';
import type { Json } from '../jsonc.ts';
import type { FoundServer } from '../server.ts';

/** What can be set up for a client. */
export const KINDS = ['hooks', 'shell', 'mcp'] as const;
export type Kind = (typeof KINDS)[number];

/** The files that the shell of a client is pointed at. */
type ShellFiles = {
  /** Takes the place of bash. */
  readonly bash: string;
  /** For a client whose bash has a fixed path: what BASH_ENV names. */
  readonly bashEnv: string;
  /** Where a sandboxed command has to be able to write its capture. */
  readonly captures: string;
};

export type Context = {
  readonly cwd: string;
  readonly home: string;
  readonly env: Env;
  readonly scope: 'user' | 'project';
  /** This program, as a client starts its hook: an absolute path, or `cuff` in shared files. */
  readonly cuff: string;
  readonly server: FoundServer;
  /** These tools instead of those that the client's model knows best. */
  readonly dialect: string | undefined;
  /** The client's own shell goes, where that is possible. */
  readonly only: boolean;
  /** Why a client is not to work without cuff, nor to ask again what a policy answers. */
  readonly required: string | undefined;
  /** Another client reads Claude Code's settings, too, and knows no hook in exec form. */
  readonly claudeFileShared: boolean;
  /** Where the shell cannot be replaced, the command is. */
  readonly rewrite: boolean;
  readonly shell: ShellFiles;
  /** Why there is no shell that records on this machine, if there is none. */
  readonly noShell?: string | undefined;
};

/** Lines in one file. */
export type Part = {
  readonly kind: Kind;
  readonly file: string;
  readonly edits: readonly Edit[];
  /** What the client has by it. */
  readonly gets: string;
  /** The mode of a new file. */
  readonly mode?: number;
  /** What a person has to do before it counts. */
  readonly next?: string;
};

/** Something that the client does not offer, or that another file does already. */
export type Gap = { readonly kind: Kind; readonly why: string };

export type Setup = {
  readonly id: AgentId;
  /** Its programs, by name. */
  readonly programs: readonly string[];
  /** Directories that are there when it is used. */
  readonly traces: (context: Context) => readonly string[];
  /** Directories, besides the home and the project, in which its files may lie. */
  readonly places?: (context: Context) => readonly string[];
  readonly parts: (context: Context) => readonly (Part | Gap)[];
};

export function isGap(part: Part | Gap): part is Gap {
  return !('file' in part);
}

/** Seconds. It answers in a fraction of one; a client that waits longer has lost it. */
export const HOOK_SECONDS = 10;

/** One line of a shell that starts the hook. */
export function hookLine({ cuff }: Context): string {
  return quoteWords([cuff, 'hook']);
}

/** The same for a client whose shell cannot be replaced: it may put ours into the command. */
export function rewritingLine(context: Context): string {
  return context.rewrite ? `${hookLine(context)} --rewrite` : hookLine(context);
}

/** Said where a hook rewrites. */
export function rewriteWarning(context: Context): { readonly next?: string } {
  if (!context.rewrite) return {};
  return {
    next:
      '--rewrite puts `cuff sh` in front of each command: rules of the client itself that name ' +
      'a command do not see it any more, also those that deny it.',
  };
}

/** An entry below `hooks` of a client with Claude's format, for each of the events. */
export function hookEdits(
  events: readonly string[],
  matched: readonly string[],
  matcher: string,
  hook: Json,
): Edit[] {
  return events.map((event) => {
    const group = matched.includes(event) ? { matcher, hooks: [hook] } : { hooks: [hook] };
    return jsonItem(['hooks', event], group, isHookEntry);
  });
}

/** In the project's directory, or in the user's. */
export function scoped(context: Context, project: string, user: string): string {
  return context.scope === 'project' ? join(context.cwd, project) : user;
}

/** Its tools with those arguments, for its model. */
export function serverOf(context: Context, dialect: string, more: readonly string[] = []) {
  const { command, args } = context.server;
  const spoken = ['--dialect', context.dialect ?? dialect];
  return { command, args: [...args, ...spoken, ...more] };
}

export const TOOLS = "cuff's tools";
