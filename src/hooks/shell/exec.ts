// The variables that make an agent run its commands in the shell that records, for one process and
// without a word in its configuration. Each agent gets only those that it looks at.

import { basename } from 'node:path';
import { AppError } from '../../errors.ts';
import { AGENT_IDS, AGENTS, type AgentId, isAgentId } from '../../text/agents.ts';
import type { Env } from '../../types.ts';
import { AGENT_VARIABLE } from './agent-call.ts';
import type { ShellFiles } from './install.ts';

type Knob = 'CLAUDE_CODE_SHELL' | 'GOOSE_SHELL' | 'SHELL' | 'BASH_ENV' | 'PATH';

const KNOBS: { readonly [id in AgentId]?: readonly Knob[] } = {
  claude: ['CLAUDE_CODE_SHELL'],
  codex: ['BASH_ENV'],
  gemini: ['PATH'],
  qwen: ['PATH'],
  opencode: ['SHELL'],
  pi: ['PATH', 'BASH_ENV'],
  goose: ['GOOSE_SHELL', 'SHELL'],
  aider: ['SHELL'],
};

/**
 * For SHLVL. In the sandbox of Codex getpeername(2) fails with EPERM, from which bash concludes
 * that its input is a connection of rshd. It then reads BASH_ENV only below another shell.
 */
export const BELOW_A_SHELL = '1';

/** `program` is the agent's name, or a path that ends in it. Throws `usage` for any other. */
export function agentEnvironment(program: string, env: Env, files: ShellFiles): Env {
  const id = basename(program);
  const knobs = isAgentId(id) ? KNOBS[id] : undefined;
  if (!isAgentId(id) || knobs === undefined) {
    const known = AGENT_IDS.filter((one) => KNOBS[one] !== undefined).join(', ');
    throw new AppError('usage', `'${program}' is no agent whose shell can be chosen.`, {
      hint: `These are: ${known}. For others, see \`cuff init\`.`,
    });
  }
  const shell = /(^|\/)zsh$/.test(env.SHELL ?? '') ? files.zsh : files.bash;
  const values: Readonly<Record<Knob, Env>> = {
    CLAUDE_CODE_SHELL: { CLAUDE_CODE_SHELL: shell },
    GOOSE_SHELL: { GOOSE_SHELL: shell },
    SHELL: { SHELL: shell, CUFF_USER_SHELL: env.SHELL },
    BASH_ENV: {
      BASH_ENV: files.bashEnv,
      CUFF_USER_BASH_ENV: env.BASH_ENV,
      ZDOTDIR: files.zdotdir,
      CUFF_USER_ZDOTDIR: env.ZDOTDIR,
      SHLVL: Number(env.SHLVL) >= 1 ? env.SHLVL : BELOW_A_SHELL,
    },
    PATH: { PATH: `${files.shells}:${env.PATH ?? ''}` },
  };
  // An agent that says nothing to its commands is named by us.
  const silent = AGENTS[id].variables.length === 0;
  const all = knobs.map((knob) => values[knob]);
  return Object.assign({}, env, ...all, silent ? { [AGENT_VARIABLE]: id } : {});
}
