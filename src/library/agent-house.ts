// The shell of a tool that only the library has: journalled, with the common settings of all
// dialects, opened by the first call.

import { AgentShell } from '../agent/agent-shell.ts';
import { type Caller, callerOf } from '../agent/caller.ts';
import { dialectConfig } from '../dialects/agent-config.ts';
import { AppError } from '../errors.ts';
import type { HouseOptions, ToolCallOptions } from './bash-tool.ts';
import { openHouse, refuseProblems } from './house.ts';

const VERSION = '1.0.0';

const CONFIG = dialectConfig('agent', {});

export type AgentHouse = {
  /** Whether commands are to be journalled. */
  readonly recording: boolean;
  /** Rejects with `closed` and `cancelled`. */
  during<T>(
    options: ToolCallOptions | undefined,
    work: (shell: AgentShell, caller: Caller) => Promise<T>,
  ): Promise<T>;
  close(): Promise<void>;
};

/** Throws `settings_invalid`. */
export function openAgentHouse(name: string, options: HouseOptions): AgentHouse {
  refusePolicy(name, options);
  const house = openHouse(options);
  const { services } = house;
  refuseProblems(name, CONFIG.problems(house.config));
  const { agent: settings } = CONFIG.read(
    house.config,
    services.projectDirectory,
    services.stateRoot,
  );
  let opening: Promise<AgentShell> | undefined;
  return {
    recording: settings.recording.enabled,
    during: (call, work) =>
      house.during(call, async (context) => {
        // Only a call that waits runs anything, so there is nothing to name but the run.
        const handleOf = ({ id }: { readonly id: string }): string => id;
        opening ??= AgentShell.open({ services, name, pluginVersion: VERSION, settings, handleOf });
        return work(await opening, callerOf(context, services.env));
      }),
    close: () => house.close(async () => (await opening)?.close()),
  };
}

/** No policy would be asked; a caller without our types must not think otherwise. */
function refusePolicy(name: string, options: HouseOptions & { readonly policy?: unknown }): void {
  const { policy } = options;
  if (policy === undefined || policy === false) return;
  throw new AppError('settings_invalid', `${name} has no option 'policy'.`, {
    hint: 'Take createBashTool, or `cuff mcp`.',
  });
}
