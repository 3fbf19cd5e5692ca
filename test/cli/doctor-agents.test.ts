// `cuff doctor --agents`: live, registered but not firing, not set up, absent, as a user sees it.
import { mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { binary } from './helper.ts';
import { Place } from './init/helper.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.close());

type Report = {
  readonly client: string;
  readonly status: string;
  readonly file: string | null;
  readonly found: string;
  readonly hint: string | null;
  readonly last_event_at: string | null;
  readonly shell: string;
};

/** Programs of agents that this machine has are not to be found. */
async function doctor(more = '') {
  const PATH = `${join(place.root, 'bin')}:${dirname(process.execPath)}`;
  let { code, out, err } = await place.cuff(`doctor --agents --json${more}`, { PATH });
  // A machine that is busy for a while makes every hook slow.
  for (let again = 0; out.includes('"it is slow') && again < 20; again += 1) {
    ({ code, out, err } = await place.cuff(`doctor --agents --json${more}`, { PATH }));
  }
  expect(err).toBe('');
  const { ok, agents, transcripts } = JSON.parse(out);
  const report = (client: string): Report | undefined =>
    agents.find((one: Report) => one.client === client);
  return { code, ok, report, agents: agents as Report[], transcripts };
}

function home(name: string, text: string): string {
  const path = join(place.home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

const CLIENTS = ['claude', 'gemini', 'qwen', 'copilot', 'cursor', 'opencode', 'pi', 'cline'];

describe('an agent', () => {
  it('is absent where there is no sign of it', async () => {
    const { code, ok, agents, transcripts } = await doctor();
    expect([code, ok, agents.length]).toEqual([0, true, 12]);
    expect(new Set(agents.map(({ status }) => status))).toEqual(new Set(['absent']));
    expect(transcripts).toEqual({ client: 'claude', days: 30, soon: 0 });
  });

  it('is not set up where it is installed, and how to is said', async () => {
    home('bin/x', '');
    mkdirSync(join(place.home, '.claude'));
    writeFileSync(join(place.root, 'bin', 'goose'), '', { mode: 0o755 });
    const { code, report } = await doctor();
    expect([code, report('claude')?.status, report('claude')?.hint]).toEqual([
      0,
      'not set up',
      'cuff init --client claude --hooks --shell',
    ]);
    expect([report('goose')?.status, report('goose')?.hint]).toEqual([
      'not set up',
      'cuff exec goose',
    ]);
  });

  it.each(CLIENTS)('is live when the line that %s has denies what it must', async (client) => {
    await place.init(`--client ${client} --hooks`);
    const { code, report, agents } = await doctor();
    const found = 'denied what it must deny; no real event so far';
    expect([report(client)?.status, report(client)?.found]).toEqual(['live', found]);
    expect([code, agents.filter(({ status }) => status === 'not firing')]).toEqual([0, []]);
  });

  it('that is VS Code is absent without a sign of it, though Claude Code has a hook', async () => {
    await place.init('--client claude --hooks');
    expect((await doctor()).report('vscode')?.status).toBe('absent');
    mkdirSync(join(place.home, '.config', 'Code'), { recursive: true });
    expect((await doctor()).report('vscode')?.status).toBe('live');
  });

  it('that is Codex is live when a person has accepted the hook, and not before', async () => {
    await place.init('--client codex --hooks');
    const before = await doctor();
    expect([before.code, before.ok, before.report('codex')?.status]).toEqual([
      ...[1, false, 'not firing'],
    ]);
    expect(before.report('codex')?.hint).toBe('start codex, "Hooks need review"');
    const key = `${join(place.home, '.codex/hooks.json')}:pre_tool_use:0:0`;
    home('.codex/config.toml', `[hooks.state."${key}"]\ntrusted_hash = "sha256:0"\n`);
    const after = await doctor();
    expect([after.code, after.report('codex')?.status]).toEqual([0, 'live']);
  });

  it('does not fire when the program has moved, the hook is off, or answers nonsense', async () => {
    const cuff = join(place.root, 'bin', 'cuff');
    await place.init('--client claude --client gemini --hooks');
    rmSync(cuff);
    const gone = await doctor();
    expect([gone.code, gone.report('claude')?.status, gone.report('claude')?.found]).toEqual([
      1,
      'not firing',
      `${cuff} cannot be started`,
    ]);
    expect(gone.report('gemini')?.found).toBe(`its program is not there any more: ${cuff} hook`);
    writeFileSync(cuff, '#!/bin/sh\necho allowed\n', { mode: 0o755 });
    const wrong = await doctor();
    expect(wrong.report('claude')?.found).toBe('it did not deny what it must deny');
    rmSync(cuff);
    symlinkSync(binary('cuff'), cuff);
    const settings = join(place.home, '.claude/settings.json');
    const text = readFileSync(settings, 'utf8').replace('{', '{ "disableAllHooks": true, ');
    writeFileSync(settings, text);
    const off = await doctor();
    expect([off.report('claude')?.found, off.report('gemini')?.status]).toEqual([
      'disableAllHooks is set',
      'live',
    ]);
  });

  it('has a broken file: then it is not set up, and the others are told all the same', async () => {
    home('.claude/settings.json', '{"hooks": ');
    const { code, report } = await doctor();
    expect([code, report('claude')?.status, report('codex')?.status]).toEqual([
      ...[0, 'not set up', 'absent'],
    ]);
  });
});

it('the probe leaves nothing behind, and needs no policy of the user', async () => {
  await place.init('--client claude --hooks');
  const before = place.files();
  await doctor();
  expect(place.files()).toEqual(before);
});

it('transcripts that Claude Code deletes soon are counted, by its own setting', async () => {
  const days = (count: number) => Date.now() / 1000 - count * 86_400;
  for (const [name, age] of [
    ['p/new.jsonl', 1],
    ['p/old.jsonl', 24],
    ['q/older.jsonl', 29],
    ['q/other.txt', 29],
  ] as const) {
    const path = home(`.claude/projects/${name}`, '{}\n');
    utimesSync(path, days(age), days(age));
  }
  expect((await doctor()).transcripts).toEqual({ client: 'claude', days: 30, soon: 2 });
  const { err } = await place.cuff('doctor --agents');
  expect(err).toContain(
    'Claude Code deletes 2 transcripts within 7 days (after 30 days). ' +
      'Keep them: cuff record import --from claude\n',
  );
  home('.claude/settings.json', '{"cleanupPeriodDays": 365}');
  expect((await doctor()).transcripts).toEqual({ client: 'claude', days: 365, soon: 0 });
});
