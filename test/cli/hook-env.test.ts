// The plugin alone: its hook at the start of a session brings Claude Code the shell that records.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { binary } from './helper.ts';
import { Place } from './init/helper.ts';

let place: Place;
let file: string;
beforeEach(() => {
  place = new Place();
  file = join(place.root, 'env-file');
});
afterEach(() => place.close());

function start(env: NodeJS.ProcessEnv): void {
  const event = { session_id: 's', cwd: place.project, hook_event_name: 'SessionStart' };
  const transcript = join(place.home, '.claude/projects/p/s.jsonl');
  const { status, stdout } = spawnSync(process.execPath, [binary('cuff'), 'hook'], {
    input: JSON.stringify({ ...event, transcript_path: transcript, source: 'startup' }),
    env: { ...place.env, CLAUDE_ENV_FILE: file, ...env },
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([0, '']);
}

it('adds lines once, behind those of others, which lead to a shell that is there', () => {
  writeFileSync(file, 'export A=1\n');
  start({ CLAUDE_PLUGIN_ROOT: '/plugin' });
  const text = readFileSync(file, 'utf8');
  const shell = join(place.root, 'state', 'shells', 'bash');
  expect(text).toMatch(/^export A=1\nif \[ -n /);
  expect([text.includes(`exec '${shell}' -c`), existsSync(shell)]).toEqual([true, true]);
  start({ CLAUDE_PLUGIN_ROOT: '/plugin' });
  expect(readFileSync(file, 'utf8')).toBe(text);
});

it('adds none for hooks of settings, where settings name the shell, or without a runner', () => {
  start({});
  start({ CLAUDE_PLUGIN_ROOT: '/plugin', CLAUDE_CODE_SHELL: '/x/shells/bash' });
  start({ CLAUDE_PLUGIN_ROOT: '/plugin', CUFF_RUNNER: 'off' });
  expect(existsSync(file)).toBe(false);
});
