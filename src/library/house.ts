// What a tool of the library stands on when there is no server around it: services for a plugin, a
// shell that is made when it is needed, and calls that can be cancelled and closed.

import { randomUUID } from 'node:crypto';
import { AppError } from '../errors.ts';
import type { CallContext, ConfigProblem, Services } from '../host/plugin.ts';
import { livePlaces } from '../packing/live.ts';
import { openPolicy, type PolicyEngine } from '../policies/engine.ts';
import { storeOf } from '../shell/captures.ts';
import { createShell, type Shell } from '../shell/shell.ts';
import type { AbortSignalLike, HouseOptions, ToolCallOptions } from './bash-tool.ts';

export type House = {
  readonly services: Services;
  /** To be waited for before the services are used. Rejects with `settings_invalid`. */
  ready(): Promise<void>;
  /** `config`, with `recording` where that was given by itself. */
  readonly config: Readonly<Record<string, unknown>>;
  /**
   * One call: its context is cancelled by the caller's signal alone. Rejects with
   * `closed` and `cancelled`.
   */
  during<T>(
    options: ToolCallOptions | undefined,
    work: (context: CallContext) => Promise<T>,
  ): Promise<T>;
  /** The first call closes; all others wait for it. */
  close(shutdown: () => Promise<void>): Promise<void>;
};

type Options = HouseOptions & { readonly policy?: string | false };

export function openHouse(options: Options): House {
  const connection = randomUUID(); // calls without a conversation belong to the maker of the tools
  let closing: Promise<void> | undefined;
  const { services, ready, closeServices } = openServices(options);
  return {
    services,
    ready,
    config: configOf(options),
    async during(call, work) {
      if (closing !== undefined) throw new AppError('closed', 'The tools were closed.');
      const { signal, release } = linked(call?.signal);
      if (signal.aborted) {
        throw new AppError('cancelled', 'The signal was aborted before the call was made.');
      }
      const meta = {
        ...(options.agentId !== undefined && { agent_id: options.agentId }),
        ...(options.conversationId !== undefined && { conversation_id: options.conversationId }),
        ...(call?.toolCallId !== undefined && { tool_call_id: call.toolCallId }),
      };
      try {
        return await work({ meta, client: undefined, connection, signal });
      } finally {
        release();
      }
    },
    close(shutdown) {
      closing ??= shutdown().finally(closeServices);
      return closing;
    },
  };
}

type Opened = Pick<House, 'services' | 'ready'> & { readonly closeServices: () => void };

function openServices(options: Options): Opened {
  const env = options.env ?? process.env;
  const projectDirectory = options.cwd ?? process.cwd();
  const stateRoot = options.stateRoot ?? storeOf(env).root;
  let shell: Shell | undefined;
  let policy: Promise<PolicyEngine> | undefined;
  const services: { -readonly [K in keyof Services]: Services[K] } = {
    projectDirectory,
    stateRoot,
    env,
    log: options.log ?? (() => undefined),
    now: Date.now,
    shell() {
      const live = livePlaces({ stateRoot, cwd: projectDirectory, env, log: services.log });
      shell ??= createShell({ stateRoot, cwd: projectDirectory, env, live });
      return shell;
    },
  };
  const closeServices = (): void => {
    services.policy?.close();
    shell?.close();
  };
  const { policy: only, log } = options;
  if (only === undefined || only === false) {
    return { services, closeServices, ready: () => Promise.resolve() };
  }
  return {
    services,
    closeServices,
    async ready() {
      policy ??= openPolicy({ project: projectDirectory, env, stateRoot, log, only });
      services.policy = await policy;
    },
  };
}

function configOf({ config = {}, recording }: HouseOptions): Readonly<Record<string, unknown>> {
  if (recording === undefined) return config;
  const given = typeof recording === 'boolean' ? { enabled: recording } : recording;
  const section = config.recording;
  return { ...config, recording: { ...(typeof section === 'object' ? section : {}), ...given } };
}

/** Throws `settings_invalid` with everything that is wrong. */
export function refuseProblems(tool: string, problems: readonly ConfigProblem[]): void {
  if (problems.length === 0) return;
  const words = problems.map(({ path, message }) => `${path.join('.') || 'config'}: ${message}`);
  throw new AppError('settings_invalid', `The config of ${tool} is refused: ${words.join('; ')}.`);
}

/** A real signal that follows the given one until it is released. */
function linked(given: AbortSignalLike | undefined): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (given?.aborted === true) abort();
  given?.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    release: () => given?.removeEventListener('abort', abort),
  };
}
