// A host with one plugin that tests can ask anything of.
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createHost, type Host } from '../../src/host/host.ts';
import type { Services } from '../../src/host/plugin.ts';
import { tempDir } from '../capture/helper.ts';

const MODULE = join(import.meta.dirname, '..', 'fixtures', 'mcp-probe.mjs');

/** As a settings file has it. */
export const PROBE_SETTINGS = `plugins:
  bash_recorder:
    enabled: false
  probe:
    enabled: true
    type: in_source
    module: ${MODULE}
`;

export async function probeHost(): Promise<Host> {
  const services: Services = {
    projectDirectory: tempDir(),
    stateRoot: tempDir(),
    env: {},
    log: () => undefined,
    shell: () => {
      throw new Error('a probe runs nothing');
    },
    now: Date.now,
  };
  const plugin = {
    name: 'probe',
    enabled: true,
    type: 'in_source',
    module: MODULE,
    config: {},
  } as const;
  const settings = { file: undefined, plugins: [plugin] };
  const host = await createHost({ settings, builtins: {}, services });
  onTestFinished(() => host.close());
  return host;
}

/** The same host with other settings of its plugin. */
export async function reloadProbe(host: Host, config: unknown): Promise<void> {
  const plugin = {
    name: 'probe',
    enabled: true,
    type: 'in_source',
    module: MODULE,
    config,
  } as const;
  await host.reload({ file: undefined, plugins: [plugin] });
}
