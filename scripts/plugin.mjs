// The plugin that Claude Code, Codex, Copilot CLI and Gemini CLI install: one directory with the
// manifests of all four, and a marketplace file beside it. Called by the build; the skill is the
// only part that is written by hand (`scripts/plugin/SKILL.md`).
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
export const SKILL = join(ROOT, 'scripts/plugin/SKILL.md');

const COMMAND = { type: 'command', command: 'cuff hook' };
/** Claude, Codex and Copilot count in seconds, Gemini in milliseconds. */
const SECONDS = { ...COMMAND, timeout: 10 };
const MILLISECONDS = { ...COMMAND, name: 'cuff', timeout: 10_000 };
const CLAUDE_TOOLS = 'Bash|Write|Edit|MultiEdit|NotebookEdit|apply_patch|bash|create|edit';
const GEMINI_TOOLS = 'run_shell_command|write_file|replace|edit';

const SERVER = { command: 'cuff', args: ['mcp', '--dialect', 'cuff_shell'] };

/** Every file of the plugin: its path below dist/plugin, and its text. */
export function pluginFiles() {
  const { version, description, license } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  const about = { name: 'cuff', version, description };
  const marketplace = {
    name: 'cuff',
    owner: { name: 'cuff' },
    plugins: [{ name: 'cuff', source: './cuff', description }],
  };
  const files = {
    '.claude-plugin/marketplace.json': marketplace,
    'cuff/.claude-plugin/plugin.json': { ...about, license },
    'cuff/hooks/hooks.json': { hooks: hooks() },
    'cuff/.mcp.json': { mcpServers: { cuff: { ...SERVER, alwaysLoad: true } } },
    'cuff/gemini-extension.json': { ...about, mcpServers: { cuff: SERVER } },
  };
  const texts = Object.entries(files).map(([path, content]) => [
    path,
    `${JSON.stringify(content, null, 2)}\n`,
  ]);
  return [...texts, ['cuff/skills/cuff/SKILL.md', readFileSync(SKILL, 'utf8')]];
}

/** Session events have one name for all, so they have the time that each client gives by itself. */
function hooks() {
  const before = [{ matcher: CLAUDE_TOOLS, hooks: [SECONDS] }];
  const gemini = [{ matcher: GEMINI_TOOLS, hooks: [MILLISECONDS] }];
  return {
    PreToolUse: before,
    PostToolUse: before,
    PostToolUseFailure: before,
    SessionStart: [{ hooks: [COMMAND] }],
    SessionEnd: [{ hooks: [COMMAND] }],
    BeforeTool: gemini,
    AfterTool: gemini,
  };
}
