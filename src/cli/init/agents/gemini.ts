// Gemini CLI and Qwen Code, which was made from it: everything is in `settings.json`. Both find
// bash by PATH, and take no PATH from a file, so that their shell comes by `cuff exec`.

import { join } from 'node:path';
import { AGENTS } from '../../../text/agents.ts';
import { type Edit, jsonEntry, jsonItem } from '../edits.ts';
import {
  type Context,
  type Gap,
  HOOK_SECONDS,
  hookEdits,
  hookLine,
  type Part,
  type Setup,
  scoped,
  serverOf,
  TOOLS,
} from './agent.ts';

const TOOL_MS = 660_000; // a command may run for ten minutes

type Family = {
  readonly id: 'gemini' | 'qwen';
  readonly matched: readonly string[];
};

export const gemini: Setup = family({ id: 'gemini', matched: ['BeforeTool', 'AfterTool'] });

export const qwen: Setup = family({
  id: 'qwen',
  matched: ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'],
});

function family({ id, matched }: Family): Setup {
  const { shellTools, fileTools } = AGENTS[id];
  const matcher = [...shellTools, ...fileTools].join('|');
  const file = (context: Context): string =>
    scoped(context, `.${id}/settings.json`, join(context.home, `.${id}`, 'settings.json'));
  const hooks = (context: Context): Part => {
    // In milliseconds, other than everywhere else.
    const rest = { command: hookLine(context), timeout: HOOK_SECONDS * 1_000 };
    const hook = { name: 'cuff', type: 'command', ...rest };
    return {
      kind: 'hooks',
      file: file(context),
      edits: hookEdits([...matched, 'SessionStart', 'SessionEnd'], matched, matcher, hook),
      gets: 'each command is judged and noted before it runs',
    };
  };
  const shell: Gap = { kind: 'shell', why: `start it with \`cuff exec ${id}\`` };
  const server = (context: Context): Part => {
    const trust = context.required !== undefined && { trust: true };
    const entry = { ...serverOf(context, 'cuff_shell'), timeout: TOOL_MS, ...trust };
    const edits: Edit[] = [jsonEntry(['mcpServers', 'cuff'], entry)];
    if (context.only) edits.push(...shellTools.map((tool) => jsonItem(['tools', 'exclude'], tool)));
    const gets = trust ? `${TOOLS} without a second question` : TOOLS;
    return {
      kind: 'mcp',
      file: file(context),
      edits,
      gets: context.only ? `${gets}, and its own shell is gone` : gets,
    };
  };
  return {
    id,
    programs: [id],
    traces: ({ home }) => [join(home, `.${id}`)],
    parts: (context) => [hooks(context), shell, server(context)],
  };
}
