// The lines that make an agent program ask `cuff hook`, in the form of its own configuration.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Places, writeConfig } from './clients/client.ts';
import type { AgentName } from './programs.ts';

const CLAUDE_EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'];

/** `program` is started with the word `hook`, and has this many seconds, 60 unless told. */
type AddHook = (places: Places, program: string, seconds?: number) => void;

export const HOOKS: Partial<Record<AgentName, AddHook>> = {
  claude: ({ home }, command, seconds = 60) => {
    const hook = { type: 'command', command, args: ['hook'], timeout: seconds };
    addTo(join(home, '.claude', 'settings.json'), { hooks: grouped(CLAUDE_EVENTS, hook, 'Bash') });
  },
  codex: ({ home }, program, seconds = 60) => {
    const hook = { type: 'command', command: `${program} hook`, timeout: seconds };
    const hooks = grouped(['PreToolUse', 'PostToolUse'], hook, '');
    addTo(join(home, '.codex', 'hooks.json'), { hooks });
  },
  gemini: ({ home }, program, seconds = 60) => {
    const hook = { type: 'command', command: `${program} hook`, timeout: seconds * 1000 };
    const hooks = grouped(['BeforeTool', 'AfterTool'], hook, 'run_shell_command');
    addTo(join(home, '.gemini', 'settings.json'), { hooks });
  },
  copilot: ({ home }, program, seconds = 60) => {
    const hook = { type: 'command', bash: `${program} hook`, timeoutSec: seconds };
    const hooks = { preToolUse: [hook], postToolUse: [hook] };
    addTo(join(home, '.copilot', 'hooks', 'cuff.json'), { version: 1, hooks });
  },
  qwen: ({ home }, program, seconds = 60) => {
    const hook = { type: 'command', command: `${program} hook`, timeout: seconds * 1000 };
    const hooks = grouped(CLAUDE_EVENTS, hook, 'run_shell_command');
    addTo(join(home, '.qwen', 'settings.json'), { hooks });
  },
};

function grouped(events: readonly string[], hook: object, matcher: string): object {
  return Object.fromEntries(events.map((event) => [event, [{ matcher, hooks: [hook] }]]));
}

/** Adds to a file of settings, which need not be there. */
export function addTo(file: string, settings: object): void {
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  writeConfig(file, { ...known, ...settings });
}
