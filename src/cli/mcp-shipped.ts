// The answers of `cuff mcp` to `initialize` and `tools/list` without settings, for each dialect.
// The build writes them to `dist/mcp-ready.json`; tests compare them with those of real servers.

import packageJson from '../../package.json' with { type: 'json' };
import { BUILTINS, SHELLS } from '../dialects/builtins.ts';
import { checkedTools, toolNames } from '../host/checked-output.ts';
import type { Services } from '../host/plugin.ts';
import { defaultSettings } from '../host/settings.ts';
import { PROJECT, type ShippedAnswers } from '../mcp/ready.ts';
import { CAPABILITIES, PROTOCOLS } from '../mcp/sdk.ts';
import { answersOf } from '../mcp/server.ts';

export function shippedAnswers(build: string): ShippedAnswers {
  const dialects = [undefined, ...SHELLS];
  return {
    build,
    serverInfo: { name: 'cuff', version: packageJson.version },
    capabilities: CAPABILITIES,
    protocols: PROTOCOLS,
    answers: Object.fromEntries(dialects.map((name) => [name ?? '', answersFor(name)])),
  };
}

function answersFor(chosen: string | undefined): ShippedAnswers['answers'][string] {
  const shells = { names: SHELLS, chosen };
  const { plugins } = defaultSettings({ cwd: '/', env: {}, builtins: BUILTINS, shells });
  const tools = plugins.flatMap(({ name, config }) => {
    const Class = BUILTINS[name];
    if (Class === undefined) throw new Error(`there is no built-in '${name}'`);
    const offered = checkedTools(name, new Class(config, NO_SERVICES).getTools());
    return offered.map((definition) => ({
      name: toolNames(name, definition).underscore,
      definition,
    }));
  });
  return answersOf(tools);
}

/** A plugin that only says which tools it has is not started. */
const NO_SERVICES: Services = {
  projectDirectory: PROJECT,
  stateRoot: '/',
  env: {},
  log: () => undefined,
  shell: () => {
    throw new Error('nothing runs here');
  },
  now: Date.now,
};
