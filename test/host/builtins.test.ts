// The real plugins in a real host, with settings from a real file that changes under them.

import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUILTINS } from '../../src/dialects/builtins.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import { loadSettings } from '../../src/host/settings.ts';
import { createShell, type Shell } from '../../src/shell/shell.ts';
import { context, names, services } from './helper.ts';
import { Project } from './settings-helper.ts';

let project: Project;
let shell: Shell | undefined;
let host: Host | undefined;
beforeEach(() => {
  project = new Project();
});
afterEach(async () => {
  await host?.close();
  shell?.close();
  host = undefined;
  shell = undefined;
  project.close();
});

const load = () =>
  loadSettings({ cwd: project.directory, env: project.env, builtins: BUILTINS, trusted: true });

async function mount(text: string): Promise<Host> {
  project.write('settings.yml', text);
  const stateRoot = project.path('state');
  const made = createShell({ stateRoot, cwd: project.directory, env: process.env });
  shell = made;
  const given = {
    ...services(),
    projectDirectory: project.directory,
    stateRoot,
    env: process.env,
    now: Date.now,
    shell: () => made,
  };
  host = await createHost({ settings: await load(), builtins: BUILTINS, services: given });
  return host;
}

describe('the built-in plugins', () => {
  it('offer their tools under both forms of their names', async () => {
    const mounted = await mount('tool_names: dotted\n');
    expect(names(mounted)).toEqual([
      ...['execute', 'session_info', 'list_recent'].map((name) => `bash_recorder.${name}`),
      ...['list_sessions', 'get_session', 'read_output', 'wait_output'].map((n) => `derun.${n}`),
    ]);
    project.write('settings.yml', '');
    await mounted.reload(await load());
    expect(names(mounted).slice(0, 4)).toEqual([
      ...['execute', 'session_info', 'list_recent'].map((name) => `bash_recorder_${name}`),
      'derun_list_sessions',
    ]);
    const health = await mounted.health();
    expect([health.healthy, health.reasons]).toEqual([true, []]);
  });

  it('take new settings between two commands', async () => {
    const settings = (value: string, directory: string) => `plugins:
  bash_recorder:
    config:
      recording: { directory: ${directory} }
      execution: { env_overrides: { GREETING: ${value} } }
`;
    const mounted = await mount(settings('one', '.cuff/a'));
    const greet = async () => {
      const args = { command: 'echo "<$GREETING>"' };
      return (await mounted.call('bash_recorder_execute', args, context())).text;
    };
    expect(await greet()).toContain('<one>');
    project.write('settings.yml', settings('two', '.cuff/b'));
    await mounted.reload(await load());
    expect(await greet()).toContain('<two>');
    const recorded = ['a', 'b'].map((name) => readdirSync(project.path('.cuff', name, 'sessions')));
    expect(recorded.map((files) => files.some((file) => file.endsWith('.jsonl')))).toEqual([
      true,
      true,
    ]);
  });
});
