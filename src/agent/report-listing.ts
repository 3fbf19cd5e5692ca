// Commands whose output is what was asked for, from its start on: files, matches, commits. Of
// others the ends tell most.

import { endingPipeline } from '../text/shell-facts.ts';
import { gitCall } from '../text/shell-git.ts';
import type { Stage } from '../text/shell-parse.ts';
import { programOf } from '../text/shell-program.ts';

const LISTING = new Set(['cat', 'ls', 'find', 'grep', 'rg', 'curl', 'jq']);
const LISTING_OF_GIT = new Set(['log', 'show', 'diff']);

export function isListing(command: string): boolean {
  const stages = endingPipeline(command)?.stages ?? [];
  return lists(stages[0]) && nameOf(stages.at(-1)) !== 'tail';
}

function lists(stage: Stage | undefined): boolean {
  if (stage?.kind !== 'simple') return false;
  const git = gitCall(stage.command);
  if (git !== undefined) return LISTING_OF_GIT.has(git.subcommand ?? '');
  return LISTING.has(nameOf(stage) ?? '');
}

function nameOf(stage: Stage | undefined): string | undefined {
  return stage?.kind === 'simple' ? programOf(stage.command)?.name : undefined;
}
