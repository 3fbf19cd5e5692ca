// One shell for an agent: the dialect that is asked for in place of the others, and one journal for
// all of them that do not name their own.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUILTINS, SHELLS } from '../../src/dialects/builtins.ts';
import { loadSettings } from '../../src/host/settings.ts';
import { Project } from './settings-helper.ts';

let project: Project;
beforeEach(() => {
  project = new Project();
});
afterEach(() => project.close());

async function load(text: string | undefined, chosen?: string) {
  if (text !== undefined) project.write('settings.yml', text);
  const { directory: cwd, env } = project;
  const shells = { names: SHELLS, chosen };
  const { plugins } = await loadSettings({ cwd, env, builtins: BUILTINS, shells, trusted: true });
  return plugins.map(({ name, enabled, config }) => ({ name, enabled, config }));
}

describe('a dialect that is asked for', () => {
  it('is mounted instead of the default one', async () => {
    expect(await load(undefined, 'codex')).toEqual([
      { name: 'codex', enabled: true, config: {} },
      { name: 'derun', enabled: true, config: {} },
    ]);
  });

  it('takes its own settings, enabled or not, and leaves plugins that run nothing', async () => {
    const text = `plugins:
  bash_recorder:
  codex: {enabled: false, config: {max_live_runs: 3}}
  cuff_shell:
  derun: {enabled: false}
`;
    expect(await load(text, 'codex')).toEqual([
      { name: 'codex', enabled: true, config: { max_live_runs: 3 } },
      { name: 'derun', enabled: false, config: {} },
    ]);
  });
});

describe('the journal', () => {
  const recorder = 'plugins:\n  bash_recorder: {config: {recording: {directory: audit}}}\n';

  it('is the one of bash_recorder for every dialect without its own', async () => {
    const recording = { directory: 'audit' };
    const text = `${recorder}  cuff_shell:\n  codex: {config: {recording: {directory: own}}}\n`;
    expect(await load(text)).toEqual([
      { name: 'bash_recorder', enabled: true, config: { recording } },
      { name: 'cuff_shell', enabled: true, config: { recording } },
      { name: 'codex', enabled: true, config: { recording: { directory: 'own' } } },
    ]);
    expect(await load(recorder, 'claude_code')).toEqual([
      { name: 'claude_code', enabled: true, config: { recording } },
    ]);
  });

  it('without output cannot be that of a dialect whose answers are views of it', async () => {
    const text = 'plugins:\n  bash_recorder: {config: {recording: {capture_output: false}}}\n';
    await expect(load(text, 'codex')).rejects.toThrow(
      'codex would record as bash_recorder does, but recording.capture_output: must be true: ' +
        'answers are views of captured output; use bash_recorder',
    );
  });
});
