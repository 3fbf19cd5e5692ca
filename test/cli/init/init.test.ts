// `cuff init` as a user runs it: every client, the diff, twice, and out again.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SETTINGS_TEMPLATE } from '../../../src/cli/init/settings.ts';
import { recorderSettings } from '../../../src/dialects/bash_recorder/config.ts';
import { BUILTINS } from '../../../src/dialects/builtins.ts';
import { loadSettings } from '../../../src/host/settings.ts';
import { lacking } from '../../requirements.ts';
import { Terminal, tmuxMissing } from '../../shell/tmux.ts';
import { binary } from '../helper.ts';
import { Place } from './helper.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.close());

const NATIVE = ['mcp', '--dialect', 'cuff_shell'];
const STDIO = { type: 'stdio', command: 'cuff', args: NATIVE };
const CLAUDE = { ...STDIO, args: ['mcp', '--dialect', 'claude_code'], alwaysLoad: true };
const TOML =
  '[mcp_servers.cuff]\ncommand = "cuff"\n' +
  'args = ["mcp", "--dialect", "codex", "--ask-timeout", "300"]\n' +
  'tool_timeout_sec = 660\n';

const CLIENTS = [
  ['claude', 'Claude Code', 'project/.mcp.json', { mcpServers: { cuff: CLAUDE } }],
  ['cursor', 'Cursor', 'project/.cursor/mcp.json', { mcpServers: { cuff: STDIO } }],
  ['vscode', 'VS Code', 'project/.vscode/mcp.json', { servers: { cuff: STDIO } }],
  [
    'opencode',
    'OpenCode',
    'project/opencode.json',
    { mcp: { cuff: { type: 'local', command: ['cuff', ...NATIVE] } } },
  ],
  ['codex', 'Codex', 'home/.codex/config.toml', TOML],
] as const;

describe.each(CLIENTS)('cuff init --client %s', (name, title, file, entry) => {
  const text = typeof entry === 'string' ? entry : `${JSON.stringify(entry, null, 2)}\n`;
  const shown = file.replace(/^project\//, '').replace(/^home/, '~');

  it('writes the configuration, says so once, and takes it out again', async () => {
    const first = await place.init(`--client ${name}`);
    expect([first.code, first.err]).toEqual([
      0,
      `Wrote ${shown}.\nWrote settings.yml.\n` +
        'settings.yml waits for a person to run `cuff trust` at a terminal.\n' +
        `Start ${title} again, and it has the tools of cuff.\n` +
        'Without a policy agents may run everything. Write a first one: cuff policy init\n',
    ]);
    expect(place.files()).toEqual({ [file]: text, 'project/settings.yml': SETTINGS_TEMPLATE });
    expect(first.out).toContain(`--- /dev/null\n+++ ${shown}\n@@ -0,0 +1,`);
    const second = await place.init(`--client ${name}`);
    const nothing = `Nothing to do: cuff is already in ${shown}.\n`;
    expect(second).toEqual({ code: 0, out: '', err: nothing });
    const third = await place.init(`--client ${name} --remove`);
    expect([third.code, third.err]).toEqual([0, `Removed ${shown}.\nRemoved settings.yml.\n`]);
    expect(place.files()).toEqual({});
    const fourth = await place.init(`--client ${name} --remove`);
    const gone = `Nothing to do: cuff is not in ${shown}.\n`;
    expect(fourth).toEqual({ code: 0, out: '', err: gone });
  });

  it('only prints it with --print', async () => {
    const { code, out, err } = await place.init(`--client ${name} --print`);
    expect([code, out, err]).toEqual([0, text, `It belongs into ${shown}.\n`]);
    expect(place.files()).toEqual({});
  });
});

describe('an existing file', () => {
  it('keeps everything else, comments included, and gets it back by --remove', async () => {
    const before = `{
  // our servers
  "servers": {
    "db": { "command": "db-mcp" }, // the database
  },
  "inputs": []
}
`;
    place.write('.vscode/mcp.json', before);
    place.write('settings.yml', '');
    const { out } = await place.init('--client vscode');
    expect(out).toBe(`--- .vscode/mcp.json
+++ .vscode/mcp.json
@@ -2,6 +2,15 @@
   // our servers
   "servers": {
     "db": { "command": "db-mcp" }, // the database
+    "cuff": {
+      "type": "stdio",
+      "command": "cuff",
+      "args": [
+        "mcp",
+        "--dialect",
+        "cuff_shell"
+      ]
+    },
   },
   "inputs": []
 }
`);
    await place.init('--client vscode --remove');
    expect(place.read('.vscode/mcp.json')).toBe(before);
    expect(place.read('settings.yml')).toBe('');
  });

  it('of Codex keeps its comments, too', async () => {
    const before = '# mine\nmodel = "x" # the best\n\n[mcp_servers.db]\ncommand = "db-mcp"\n';
    mkdirSync(join(place.home, '.codex'));
    const path = join(place.home, '.codex', 'config.toml');
    writeFileSync(path, before);
    await place.init('--client codex');
    expect(readFileSync(path, 'utf8')).toBe(`${before}\n${TOML}`);
    await place.init('--client codex --remove');
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('of Codex is where CODEX_HOME says', async () => {
    const CODEX_HOME = join(place.root, 'elsewhere');
    await place.init('--client codex', { CODEX_HOME });
    expect(readFileSync(join(CODEX_HOME, 'config.toml'), 'utf8')).toBe(TOML);
  });

  it('of OpenCode may be in its newer form, or have comments', async () => {
    place.write(
      'opencode.jsonc',
      '{\n  "mcp": { "servers": { "x": { "type": "local" } } } // v2\n}\n',
    );
    await place.init('--client opencode');
    expect(place.has('opencode.json')).toBe(false);
    expect(place.read('opencode.jsonc')).toBe(
      '{\n  "mcp": { "servers": { "x": { "type": "local" }, ' +
        '"cuff": {"type":"local","command":["cuff","mcp","--dialect","cuff_shell"]} } } // v2\n}\n',
    );
  });

  it('keeps its mode, and a link stays a link', async () => {
    const real = place.write('shared/mcp.json', '{"mcpServers": {"x": {}}}');
    chmodSync(real, 0o640);
    symlinkSync('shared/mcp.json', join(place.project, '.mcp.json'));
    await place.init('--client claude');
    expect(lstatSync(join(place.project, '.mcp.json')).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(real, 'utf8')).mcpServers).toEqual({ x: {}, cuff: CLAUDE });
    expect(statSync(real).mode & 0o777).toBe(0o640);
    await place.init('--client claude --remove');
    expect(readFileSync(real, 'utf8')).toBe('{"mcpServers": {"x": {}}}');
    writeFileSync(real, '{}');
    await place.init('--client claude');
    await place.init('--client claude --remove');
    expect([readFileSync(real, 'utf8'), place.read('.mcp.json')]).toEqual(['{}\n', '{}\n']);
  });

  it.each([
    [
      'claude',
      '.mcp.json',
      '{\n  "a": 1\n  "b": 2\n}',
      '.mcp.json:3:3: a comma or } is missing here',
    ],
    ['claude', '.mcp.json', '[]', '.mcp.json:1:1: it is not an object'],
    [
      'vscode',
      '.vscode/mcp.json',
      '{"servers": 7}',
      '.vscode/mcp.json:1:13: "servers" is not an object',
    ],
    [
      'codex',
      '../home/.codex/config.toml',
      'a = [1\n',
      '~/.codex/config.toml:2:1: a comma or the end of a list is missing here',
    ],
    [
      'codex',
      '../home/.codex/config.toml',
      'mcp_servers = {}',
      '~/.codex/config.toml:1:1: mcp_servers is written in a form that has to be edited by hand',
    ],
  ])(
    'of %s that cannot be understood is refused and nothing is written',
    async (client, name, text, why) => {
      place.write(name, text);
      const before = place.files();
      for (const more of ['', ' --yes']) {
        const { code, out, err } = await place.init(`--client ${client}${more}`);
        expect([code, out, err]).toEqual([2, '', `cuff: ${why}; it was not changed.\n`]);
      }
      expect(place.files()).toEqual(before);
    },
  );

  it('may be no file at all, or no text', async () => {
    mkdirSync(join(place.project, '.mcp.json'));
    const folder = await place.init('--client claude');
    expect([folder.code, folder.err]).toEqual([
      2,
      'cuff: .mcp.json is not a file; it was not changed.\n',
    ]);
    mkdirSync(join(place.project, '.cursor'));
    writeFileSync(join(place.project, '.cursor/mcp.json'), Buffer.from([0x7b, 0xff, 0x7d]));
    const latin = await place.init('--client cursor');
    expect([latin.code, latin.err]).toEqual([
      2,
      'cuff: .cursor/mcp.json is not UTF-8 text; it was not changed.\n',
    ]);
    expect(place.has('settings.yml')).toBe(false);
  });

  it('that only differs is brought up to date and keeps what somebody added', async () => {
    place.write('.mcp.json', '{"mcpServers": {"cuff": {"command": "old", "env": {"A": "1"}}}}');
    await place.init('--client claude');
    expect(JSON.parse(place.read('.mcp.json')).mcpServers.cuff).toEqual({
      ...CLAUDE,
      env: { A: '1' },
    });
  });
});

describe('without a client', () => {
  it('says what it found and would do, and writes nothing without a yes', async () => {
    place.write('CLAUDE.md', '');
    place.write('.vscode/settings.json', '{}');
    const { code, out, err } = await place.init();
    expect(code).toBe(2);
    expect(err).toBe(
      'Found Claude Code (.mcp.json), VS Code (.vscode/mcp.json).\n' +
        'Nothing was written. Say --yes for all of it, or --client for one.\n',
    );
    const names = [...out.matchAll(/^\+\+\+ (.*)$/gm)].map((match) => match[1]);
    expect(names).toEqual(['.mcp.json', '.vscode/mcp.json', 'settings.yml']);
    expect([place.has('.mcp.json'), place.has('settings.yml')]).toEqual([false, false]);
  });

  it('does it all with --yes, and takes it all out again', async () => {
    for (const folder of ['.claude', '.cursor', '.vscode', '.opencode', '.codex']) {
      place.write(`${folder}/x`, 'x');
    }
    const before = place.files();
    const { code, err } = await place.init('--yes');
    expect(code).toBe(0);
    expect(err).toMatch(/^Start Claude Code, Codex, Cursor, VS Code, OpenCode again/m);
    expect(Object.keys(place.files())).toHaveLength(Object.keys(before).length + 6);
    const removed = await place.init('--remove --yes');
    expect(removed.code).toBe(0);
    expect(place.files()).toEqual(before);
  });

  it('refuses all of it when one file cannot be understood', async () => {
    place.write('.mcp.json', '{}');
    place.write('.cursor/mcp.json', '{');
    const before = place.files();
    const { code, err } = await place.init('--yes');
    expect(code).toBe(2);
    expect(err).toContain('cuff: .cursor/mcp.json:1:1: what opens here is never closed; it was');
    expect(place.files()).toEqual(before);
  });

  it('asks for a name where there is nothing', async () => {
    const { code, err } = await place.init();
    expect(code).toBe(2);
    expect(err).toContain('No client found here; name one: --client claude|codex|cursor|vscode');
  });

  it('has nothing to print', async () => {
    const { code, out, err } = await place.init('--print');
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('Say which one: cuff init --print --client claude|codex');
  });

  it('or with one that nobody knows, lists those it knows', async () => {
    const { code, err } = await place.init('--client emacs');
    expect(code).toBe(2);
    expect(err).toContain('Allowed choices are claude, codex, gemini, qwen, copilot, cursor,');
  });
});

describe.skipIf(lacking(tmuxMissing(), 'tmux is not installed'))('at a terminal', () => {
  let terminal: Terminal;
  beforeEach(() => {
    terminal = new Terminal(100, 50);
  });
  afterEach(() => terminal.close());

  it.each([
    [['y', 'Enter'], true, /Wrote settings\.yml\./],
    [['n', 'Enter'], false, /Nothing was written\./],
    [['Enter'], false, /Nothing was written\./],
    [['C-d'], false, /Nothing was written\./],
    [['C-c'], false, /Nothing was written\./],
  ])('it asks, and %j is an answer', async (keys, written, words) => {
    place.write('.claude/x', '');
    const exports = Object.entries({ HOME: place.home, PATH: place.env.PATH })
      .map(([name, value]) => `${name}='${value}'`)
      .join(' ');
    terminal.type(
      `cd ${place.project}; clear; ${exports} ${process.execPath} ${binary('cuff')} init`,
    );
    await terminal.shows(/Write these 2 files\? \[y\/N\]/);
    terminal.press(...keys);
    await terminal.shows(words);
    await terminal.shows(/\n\$$/); // it is over: nothing is written into the place any more
    expect([place.has('.mcp.json'), place.has('settings.yml')]).toEqual([written, written]);
  });
});

describe('the entry', () => {
  it('names this program with its paths when the PATH does not have it, and says so', async () => {
    const PATH = process.env.PATH ?? '';
    const { err } = await place.init('--client claude', { PATH });
    expect(JSON.parse(place.read('.mcp.json')).mcpServers.cuff).toEqual({
      type: 'stdio',
      command: process.execPath,
      args: [binary('cuff'), 'mcp', '--dialect', 'claude_code'],
      alwaysLoad: true,
    });
    expect(err).toContain('cuff is not on the PATH, so the file names paths of this machine.\n');
  });

  it('is not `cuff` when that is another program', async () => {
    unlinkSync(join(place.root, 'bin', 'cuff'));
    writeFileSync(join(place.root, 'bin', 'cuff'), '#!/bin/sh\n', { mode: 0o755 });
    await place.init('--client claude');
    expect(JSON.parse(place.read('.mcp.json')).mcpServers.cuff.command).toBe(process.execPath);
  });
});

describe('the settings file', () => {
  it('is left alone when there is one, wherever it is looked for', async () => {
    for (const name of [
      'settings.yml',
      '.cuff/settings.yml',
      '../home/.config/cuff/settings.yml',
    ]) {
      const path = place.write(name, '# mine\n');
      await place.init('--client claude');
      expect([place.has('settings.yml'), readFileSync(path, 'utf8')]).toEqual([
        name === 'settings.yml',
        '# mine\n',
      ]);
      unlinkSync(path);
    }
  });

  it('stays while somebody needs it, and when somebody changed it', async () => {
    await place.init('--client claude');
    await place.init('--client cursor');
    await place.init('--client claude --remove');
    expect(place.has('settings.yml')).toBe(true);
    place.write('settings.yml', `${SETTINGS_TEMPLATE}# mine\n`);
    await place.init('--client cursor --remove');
    expect([place.has('settings.yml'), place.has('.cursor')]).toEqual([true, false]);
  });

  it('is valid, and so is every commented key, which shows its default', async () => {
    const load = async (text: string) => {
      place.write('settings.yml', text);
      return loadSettings({ cwd: place.project, env: {}, builtins: BUILTINS, trusted: true });
    };
    const template = await load(SETTINGS_TEMPLATE);
    expect(template.plugins.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['bash_recorder', true],
      ['derun', true],
    ]);
    const whole = await load(SETTINGS_TEMPLATE.replace(/^( *)# (?=[a-z_]+: )/gm, '$1'));
    expect(whole.toolNames).toBe('underscore');
    const config = (whole.plugins[0]?.config ?? {}) as Record<string, object>;
    expect(recorderSettings(config, '/p', '/s')).toEqual(recorderSettings({}, '/p', '/s'));
    const schema = BUILTINS.bash_recorder?.configSchema ?? {};
    const properties = schema.properties as Record<string, { properties: object }>;
    const keys = (sections: [string, object][]) =>
      sections.map(([name, section]) => [name, Object.keys(section).sort()]);
    const known = Object.entries(properties).map(([name, one]): [string, object] => [
      name,
      one.properties,
    ]);
    expect(keys(Object.entries(config))).toEqual(keys(known));
  });

  it('comes with a word about .gitignore, where that is missing', async () => {
    const words = 'Add .cuff/ to .gitignore: it contains recorded output; do not commit it.\n';
    mkdirSync(join(place.project, '.git'));
    expect((await place.init('--client claude')).err).toContain(words);
    place.write('.gitignore', 'node_modules\n/.cuff/\n');
    expect((await place.init('--client cursor')).err).not.toContain(words);
  });
});
