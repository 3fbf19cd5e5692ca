// What the lines of a client depend on: whose files, which program, which options.

import { sessionsDir, stateRoot } from '../../capture/paths.ts';
import { shellFiles } from '../../hooks/shell/install.ts';
import { homeOf, realOf } from '../../places.ts';
import { findRunner } from '../../run/binary.ts';
import type { AgentId } from '../../text/agents.ts';
import type { Context } from './agents/agent.ts';
import { signOf } from './plan.ts';
import { findServer, ownPath } from './server.ts';

type Options = {
  readonly client?: readonly AgentId[];
  readonly dialect?: string;
  readonly only?: boolean;
  readonly rewrite?: boolean;
};

export function contextOf(options: Options, scope: Context['scope'], required?: string): Context {
  const { env } = process;
  const script = process.argv[1] ?? '';
  const server = findServer(env, script);
  const shared = scope === 'project' && server.command === 'cuff';
  const { bash, bashEnv } = shellFiles(env);
  const runner = findRunner(env);
  const context: Context = {
    cwd: process.cwd(),
    home: homeOf(env),
    env,
    scope,
    cuff: shared ? 'cuff' : ownPath(env, script),
    server,
    dialect: options.dialect,
    only: options.only === true,
    required,
    claudeFileShared: false,
    rewrite: options.rewrite === true,
    shell: { bash, bashEnv, captures: sessionsDir(realOf(stateRoot(env))) },
    noShell: runner.kind === 'native' ? undefined : `there is no native runner: ${runner.why}`,
  };
  const others: readonly AgentId[] = ['vscode', 'cursor', 'copilot'];
  const sharing = others.some(
    (id) => options.client?.includes(id) === true || signOf(id, context) !== undefined,
  );
  return { ...context, claudeFileShared: sharing };
}
