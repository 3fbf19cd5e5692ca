// `cuff init` with hooks, shell and tools, as a user runs it: every client, in files that are there
// and in files that are not, twice, and back to the byte.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENT_IDS } from '../../../src/text/agents.ts';
import { Place } from './helper.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.close());

const ALL_KINDS = '--hooks --shell --mcp';

function home(name: string, text: string, mode = 0o644): string {
  const path = join(place.home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const inHome = (name: string): string => readFileSync(join(place.home, name), 'utf8');

/** Files as people have them: remarks, other line ends, no last line end, empty containers. */
const FILES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  claude: [
    [
      '.claude/settings.json',
      '{\n  // mine\n  "hooks": {\n    "PreToolUse": [\n' +
        '      { "matcher": "Edit", "hooks": [] } // a\n' +
        '    ],\n  },\n  "env": {}, "permissions": { "allow": ["Read"] }\n}',
    ],
    ['.claude.json', '{"numStartups":7,"mcpServers":{},"projects":{"/x":{"y":[1,2]}}}'],
  ],
  codex: [
    [
      '.codex/config.toml',
      '# mine\r\nmodel = "x"\r\n\r\n[shell_environment_policy]\r\ninherit = "core" # why\r\n\r\n' +
        '[sandbox_workspace_write]\r\nwritable_roots = [ "/a", # one\r\n  "/b" ]\r\n',
    ],
    [
      '.codex/hooks.json',
      '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}\n',
    ],
  ],
  gemini: [['.gemini/settings.json', '{\n\t"theme": "x", /* t */\n\t"hooks": {},\n}\n\n\n']],
  qwen: [['.qwen/settings.json', '\uFEFF{ "mcpServers": { "db": { "command": "db" } } }']],
  copilot: [['.copilot/mcp-config.json', '{ "mcpServers": {\n\n} }\n']],
  cursor: [
    ['.cursor/hooks.json', '{"version": 1, "hooks": {"stop": [{"command": "x"}]}}'],
    ['.cursor/mcp.json', ''],
  ],
  vscode: [
    ['.config/Code/User/mcp.json', '{\n    // servers\n    "servers": {\n    }\n}\n'],
    ['.claude/settings.json', '{\n  "model": "opus"\n}\n'],
  ],
  opencode: [
    [
      '.config/opencode/opencode.jsonc',
      '{\n  "$schema": "https://x", // s\n  "permission": { "edit": "ask" }\n}\n',
    ],
  ],
  pi: [['.pi/agent/settings.json', '{ }']],
  cline: [['.cline/hooks/PreToolUse', '#!/bin/sh\necho {}\n']],
  goose: [
    [
      '.config/goose/config.yaml',
      '# mine\nextensions:\n  developer:\n    enabled: true # yes\nGOOSE_MODEL: x',
    ],
  ],
  aider: [],
};

describe.each(AGENT_IDS)('%s', (client) => {
  const line = `--client ${client} ${ALL_KINDS}`;

  it('gets its lines once, and every byte back, from nothing', async () => {
    const { code, out } = await place.init(`${line} --only`);
    expect([code, out]).toEqual([0, expect.stringMatching(/^CLIENT +PART +DOES +FILE +WHY\n/)]);
    const written = place.files();
    expect(Object.keys(written).length > 0).toBe(client !== 'aider');
    const again = await place.init(`${line} --only`);
    const words =
      client === 'aider' ? /^Nothing can be / : /^Nothing to do: all of it is there\.\n$/;
    expect([again.code, again.err]).toEqual([0, expect.stringMatching(words)]);
    expect(place.files()).toEqual(written);
    const back = await place.init(`--client ${client} --undo`);
    expect([back.code, place.files(), readdirSync(place.home)]).toEqual([0, {}, []]);
    expect((await place.init('--undo')).err).toBe('Nothing to do: nothing of cuff was found.\n');
  });

  it('keeps what its files have, in its mode, and gets it back', async () => {
    for (const [name, text] of FILES[client] ?? []) home(name, text, 0o640);
    const before = place.files();
    const dry = await place.init(`${line} --dry-run`);
    expect([dry.code, place.files()]).toEqual([0, before]);
    for (const only of ['', ' --only']) {
      const { code, err } = await place.init(line + only);
      expect([code, err]).toEqual([0, expect.any(String)]);
    }
    if (client !== 'aider') expect(place.files()).not.toEqual(before);
    for (const [name] of FILES[client] ?? []) {
      expect(statSync(join(place.home, name)).mode & 0o777).toBe(0o640);
    }
    await place.init('--undo');
    expect(place.files()).toEqual(before);
  });

  it('loses its lines alone from a file that changed meanwhile', async () => {
    const own = (FILES[client] ?? []).filter(([, text]) => /^\uFEFF?\{|^#/.test(text));
    for (const [name, text] of own) home(name, text);
    await place.init(line);
    for (const [name] of own) {
      const path = join(place.home, name);
      const text = readFileSync(path, 'utf8');
      const marked = name.endsWith('.toml') || name.endsWith('.yaml') || name.includes('cline');
      writeFileSync(path, marked ? `${text}\n# later\n` : text.replace('{', '{ "later": 1,'));
    }
    await place.init('--undo');
    for (const [name] of own) {
      const text = inHome(name);
      expect(text).toContain('later');
      expect(text).not.toMatch(/cuff|shells|bash-env/);
    }
  });
});

describe('what is written', () => {
  it('has the exec form for Claude Code, and one line where others read it, too', async () => {
    await place.init('--client claude --hooks');
    const cuff = join(place.root, 'bin', 'cuff');
    const hook = { type: 'command', command: cuff, args: ['hook'], timeout: 10 };
    const { hooks } = JSON.parse(inHome('.claude/settings.json'));
    expect(Object.keys(hooks)).toEqual([
      ...['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'SessionStart', 'SessionEnd'],
    ]);
    expect(hooks.PreToolUse).toEqual([
      { matcher: 'Bash|Write|Edit|MultiEdit|NotebookEdit', hooks: [hook] },
    ]);
    expect(hooks.SessionEnd).toEqual([{ hooks: [hook] }]);
    await place.init('--client claude --client vscode --hooks');
    const both = JSON.parse(inHome('.claude/settings.json')).hooks;
    const line = { type: 'command', command: `${cuff} hook`, timeout: 10 };
    expect(both.PreToolUse.map(({ hooks: [first] }: { hooks: unknown[] }) => first)).toEqual([
      line,
    ]);
    expect(existsSync(join(place.home, '.copilot'))).toBe(false);
  });

  it('is no second registration for VS Code where Copilot has one', async () => {
    await place.init('--client copilot --hooks');
    const { out } = await place.init('--client vscode --hooks');
    expect(out).toMatch(/VS Code +hooks +not possible +- +it reads .*cuff\.json/);
    expect(existsSync(join(place.home, '.claude'))).toBe(false);
  });

  it('keeps a shell and a hook that the user chose, and says so', async () => {
    home('.claude/settings.json', '{"env": {"CLAUDE_CODE_SHELL": "/usr/bin/zsh"}}');
    home('.codex/config.toml', '[shell_environment_policy.set]\nBASH_ENV = "/mine"\n');
    home('.cline/hooks/PreToolUse', '#!/bin/sh\n');
    const { out } = await place.init(
      '--client claude --client codex --client cline --shell --hooks',
    );
    expect(out).toMatch(/Claude Code +shell +left alone .* has a value of yours, which stays/);
    expect(out).toMatch(/Codex +shell +left alone/);
    expect(inHome('.codex/config.toml')).toBe(
      '[shell_environment_policy.set]\nBASH_ENV = "/mine"\n',
    );
    expect(readdirSync(join(place.home, '.cline/hooks'))).toEqual([
      ...['PostToolUse', 'PreToolUse', 'PreToolUse.sh'],
    ]);
  });

  it('points at a shell that is there, and makes it again where it is gone', async () => {
    await place.init('--client claude --shell');
    const { CLAUDE_CODE_SHELL: shell = '' } = JSON.parse(inHome('.claude/settings.json')).env;
    expect(shell).toBe(join(place.root, 'state', 'shells', 'bash'));
    expect(spawnSync(shell, ['-c', 'echo $0 $1; exit 3', 'a', 'b'])).toMatchObject({
      status: 3,
      stdout: Buffer.from('a b\n'),
    });
    rmSync(shell);
    const { err } = await place.init('--client claude --shell');
    expect([err, existsSync(shell)]).toEqual(['Nothing to do: all of it is there.\n', true]);
  });

  it('has no shell where there is no native runner', async () => {
    const { out } = await place.init('--client claude --shell', { CUFF_RUNNER: 'off' });
    expect(out).toMatch(/Claude Code +shell +not possible +- +there is no native runner/);
    expect(place.files()).toEqual({});
  });

  it('grants nothing where no policy answers, and takes no shell without --only', async () => {
    await place.init('--client claude --client codex --mcp');
    expect(existsSync(join(place.home, '.claude/settings.json'))).toBe(false);
    expect(inHome('.codex/config.toml')).not.toMatch(/approve|required|shell_tool/);
    place.write('.cuff/policy.yml', 'default: ask\n');
    await place.init('--client claude --client codex --mcp');
    expect(JSON.parse(inHome('.claude/settings.json'))).toEqual({
      permissions: { allow: ['mcp__cuff'] },
    });
    expect(inHome('.codex/config.toml')).toMatch(/required = true\ndefault_tools_approval_mode/);
    await place.init('--client claude --only --mcp');
    expect(JSON.parse(inHome('.claude/settings.json')).permissions.deny).toEqual(['Bash']);
  });

  it('never has the hash with which a person trusts a hook in Codex', async () => {
    const { err } = await place.init('--client codex --hooks');
    expect(err).toContain('Start codex once and accept "Hooks need review"');
    expect(existsSync(join(place.home, '.codex/config.toml'))).toBe(false);
  });

  it('rewrites commands only where it is asked to, and says what that costs', async () => {
    const clients = '--client copilot --client cursor --client cline --client claude --hooks';
    await place.init(clients);
    expect(JSON.stringify(place.files())).not.toContain('--rewrite');
    const { err } = await place.init(`${clients} --rewrite`);
    expect(err).toContain('rules of the client itself that name a command do not see it any more');
    const rewriting = Object.entries(place.files()).filter(([, text]) =>
      text.includes('--rewrite'),
    );
    expect(rewriting.map(([name]) => name).sort()).toEqual([
      ...['home/.cline/hooks/PostToolUse', 'home/.cline/hooks/PreToolUse'],
      ...['home/.copilot/hooks/cuff.json', 'home/.cursor/hooks.json'],
    ]);
    await place.init('--undo');
    expect(place.files()).toEqual({});
  });

  it('is only shown with --dry-run, also by the shorter way', async () => {
    const { code, out, err } = await place.init('--client claude --dry-run');
    expect([code, err]).toEqual([0, 'Nothing was written: --dry-run.\n']);
    expect([out.includes('+++ .mcp.json\n'), place.files()]).toEqual([true, {}]);
  });

  it('by the shorter way is given back to the byte, too', async () => {
    place.write('.mcp.json', '{ }');
    await place.init('--client claude');
    expect(place.read('.mcp.json')).toContain('cuff');
    await place.init('--client claude --undo');
    expect(place.read('.mcp.json')).toBe('{ }');
  });

  it('is in the project with --project, by names that others have, too', async () => {
    await place.init(`--client claude --project ${ALL_KINDS}`);
    expect(readdirSync(place.home)).toEqual([]);
    expect(Object.keys(place.files()).sort()).toEqual([
      ...['project/.claude/settings.json', 'project/.claude/settings.local.json'],
      'project/.mcp.json',
    ]);
    expect(place.read('.claude/settings.json')).toContain('"command": "cuff"');
    await place.init('--undo --project');
    expect(place.files()).toEqual({});
  });
});

describe('the agents whose hook a person has set up', () => {
  const known = (): unknown => {
    const file = join(place.root, 'state', 'init', 'agents.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  };

  it('are known for rules that name them, until they are taken back', async () => {
    await place.init('--client gemini --client claude --hooks --shell');
    await place.init('--client codex --mcp');
    await place.init('--client gemini --hooks');
    const both = [
      { agent: 'claude', project: null },
      { agent: 'gemini', project: null },
    ];
    expect(known()).toEqual(both);
    await place.init('--client cursor --hooks --project');
    expect(known()).toEqual([...both, { agent: 'cursor', project: place.project }]);
    await place.init('--client claude --hooks --dry-run --undo');
    await place.init('--client claude --shell --undo');
    expect(known()).toHaveLength(3);
    await place.init('--client claude --undo');
    await place.init('--undo --project');
    expect(known()).toEqual(both.slice(1));
  });
});

describe('the clients', () => {
  it('are those that are installed, by program or by directory', async () => {
    mkdirSync(join(place.home, '.gemini'));
    writeFileSync(join(place.root, 'bin', 'pi'), '', { mode: 0o755 });
    const { code, err, out } = await place.init('--all --hooks --dry-run', {
      PATH: join(place.root, 'bin'),
    });
    expect([code, err]).toEqual([
      0,
      `Found Gemini CLI: ${place.home}/.gemini.\nFound pi: \`pi\` is on the PATH.\n` +
        'Nothing was written: --dry-run.\n',
    ]);
    expect(out).toContain('+++ ~/.gemini/settings.json\n');
    expect(place.files()['home/.gemini/settings.json']).toBeUndefined();
  });

  it('share a file, of which each takes back its own', async () => {
    home('.claude/settings.json', '{"a": 1}');
    await place.init('--client claude --hooks');
    await place.init('--client claude --shell');
    await place.init('--client claude --shell --undo');
    const { hooks, env } = JSON.parse(inHome('.claude/settings.json'));
    expect([typeof hooks, env]).toEqual(['object', undefined]);
    await place.init('--client claude --undo');
    expect(inHome('.claude/settings.json')).toBe('{"a": 1}');
  });
});

describe('a rule of the user', () => {
  it('that is like ours stays when the file changed meanwhile', async () => {
    home('.claude/settings.json', '{"permissions": {"deny": ["Bash"]}}');
    await place.init('--client claude --hooks');
    const text = inHome('.claude/settings.json');
    home('.claude/settings.json', text.replace('{', '{ "later": 1, '));
    await place.init('--undo');
    expect(JSON.parse(inHome('.claude/settings.json'))).toEqual({
      later: 1,
      permissions: { deny: ['Bash'] },
    });
  });
});

describe('nothing is changed', () => {
  it('by an agent', async () => {
    for (const args of ['--client claude --hooks', '--undo', '--all']) {
      const { code, err } = await place.init(args, { CLAUDECODE: '1' });
      expect([code, err]).toEqual([
        2,
        'cuff: An agent cannot change what agents may do: CLAUDECODE is set.\n' +
          'Run it in a terminal of your own.\n',
      ]);
    }
    expect(place.files()).toEqual({});
  });

  it('where a link leads out of the home or the project, or nowhere', async () => {
    const outside = join(place.root, 'outside.json');
    writeFileSync(outside, '{}');
    symlinkSync(outside, join(place.home, '.claude.json'));
    const user = await place.init('--client claude --mcp');
    expect([user.code, user.err]).toEqual([
      2,
      `cuff: ~/.claude.json is a link that leads out of its directory, to ${outside}; ` +
        'it was not changed.\n',
    ]);
    symlinkSync(place.home, join(place.project, '.claude'));
    const project = await place.init('--client claude --hooks --project');
    expect(project.err).toContain(
      '.claude/settings.json is a link that leads out of its directory',
    );
    symlinkSync('nowhere', join(place.project, '.mcp.json'));
    const nowhere = await place.init('--client claude');
    expect(nowhere.err).toBe('cuff: .mcp.json is a link that leads nowhere; it was not changed.\n');
    expect([readFileSync(outside, 'utf8'), lstatSync(outside).isFile()]).toEqual(['{}', true]);
  });

  it('and what Codex only knows for a user is no part of a project', async () => {
    const { code, out } = await place.init('--client codex --project');
    expect([code, out]).toEqual([0, expect.stringMatching(/mcp +not possible +- +only for the/)]);
    expect([place.has('.codex/hooks.json'), place.has('.codex/config.toml')]).toEqual([
      true,
      false,
    ]);
  });

  it.each([
    ['{"hooks": []}', ':1:11: "hooks" is not an object; it was not changed.'],
    ['{"hooks": {"PreToolUse": 7}}', ':1:26: "hooks.PreToolUse" is not a list; it was not'],
    ['{"hooks": ', ':1:11: a value is missing here; it was not changed.'],
    ['\0', ':1:1: a value is missing here; it was not changed.'],
    [' '.repeat(5 * 1024 * 1024), ' is too large to be edited; it was not changed.'],
  ])('where the settings of a project are hostile (%#)', async (text, words) => {
    place.write('.claude/settings.json', text);
    const { code, err } = await place.init('--client claude --hooks --project');
    expect([code, err]).toEqual([2, expect.stringContaining(`.claude/settings.json${words}`)]);
    expect([place.read('.claude/settings.json') === text, place.has('.codex')]).toEqual([
      true,
      false,
    ]);
  });
});
