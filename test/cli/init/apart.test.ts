// `cuff init` for several clients: what is wrong with one is not the trouble of the others.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Place } from './helper.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.close());

function home(name: string, text: string): void {
  const path = join(place.home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const inHome = (name: string): string => readFileSync(join(place.home, name), 'utf8');

describe('one client whose file is broken', () => {
  const BROKEN: readonly (readonly [string, (path: string) => void])[] = [
    ['is no JSON', (path) => writeFileSync(path, '{"hooks": ')],
    ['is no text', (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]))],
    ['is a directory', (path) => mkdirSync(path)],
    ['leads nowhere', (path) => symlinkSync('nowhere', path)],
  ];

  it.each(BROKEN)(
    'that %s keeps no other one from its lines, nor from losing them',
    async (...[, spoil]) => {
      const clients = '--client claude --client qwen --client cursor --client vscode';
      mkdirSync(join(place.home, '.qwen'));
      spoil(join(place.home, '.qwen/settings.json'));
      const { code, out, err } = await place.init(clients);
      expect(code).toBe(1);
      expect(err).toContain('Qwen Code gets nothing: ~/.qwen/settings.json');
      expect(err).toContain('Repair that file, then run: cuff init --client qwen\n');
      expect(out).not.toContain('Qwen');
      expect(inHome('.claude/settings.json')).toContain('hook');
      expect(inHome('.cursor/hooks.json')).toContain('cuff');
      const shown = await place.init(`${clients} --dry-run`);
      expect([shown.code, shown.err]).toEqual([
        1,
        expect.stringContaining('Qwen Code gets nothing'),
      ]);
      const back = await place.init('--undo');
      expect([back.code, back.err]).toEqual([0, expect.not.stringContaining('qwen')]);
      expect(existsSync(join(place.home, '.claude/settings.json'))).toBe(false);
      expect(existsSync(join(place.home, '.cursor'))).toBe(false);
    },
  );

  it.each(BROKEN)(
    'since init, and %s, is named by --undo, which takes back the rest',
    async (...[, spoil]) => {
      await place.init('--client claude --client qwen --hooks');
      rmSync(join(place.home, '.qwen/settings.json'));
      spoil(join(place.home, '.qwen/settings.json'));
      const { code, err } = await place.init('--undo');
      expect(code).toBe(existsSync(join(place.home, '.qwen/settings.json')) ? 1 : 0);
      if (code === 1) expect(err).toMatch(/~\/.qwen\/settings\.json.* Repair it, then run/);
      expect(existsSync(join(place.home, '.claude/settings.json'))).toBe(false);
    },
  );

  it('by a write that fails is named, and the others are written', async () => {
    if (process.getuid?.() === 0) return; // root may write anywhere
    mkdirSync(join(place.home, '.qwen'), { mode: 0o555 });
    const { code, err } = await place.init('--client qwen --client claude --hooks');
    expect([code, err]).toEqual([1, expect.stringContaining('cannot be written')]);
    expect(inHome('.claude/settings.json')).toContain('hook');
  });

  it('of VS Code is not the one of Copilot or Claude Code that it looks into', async () => {
    home('.copilot/hooks/cuff.json', '{"hooks": ');
    const { code } = await place.init('--client vscode --mcp');
    expect([code, inHome('.config/Code/User/mcp.json')]).toEqual([
      0,
      expect.stringContaining('cuff'),
    ]);
  });
});

it.each([
  ['aider', 'start it with `cuff exec aider`; aider mcp: it speaks no MCP.'],
  ['goose', 'start it with `cuff exec goose`; goose mcp: only for the user: --user.'],
])('what %s can have is said where nothing can be written', async (client, words) => {
  const { code, err } = await place.init(`--client ${client} --project`);
  expect([code, err]).toEqual([0, expect.stringContaining('Nothing can be written. ')]);
  expect(err).toContain(words);
});
