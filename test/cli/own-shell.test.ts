// `recording.strict` of the user's settings reaches the shell that agents start.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Place } from './init/helper.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
  writeFileSync(join(place.root, 'bin', 'aider'), '#!/bin/sh\n"$SHELL" -c "echo ran"\n', {
    mode: 0o755,
  });
});
afterEach(() => place.close());

const STRICT = 'plugins:\n  bash_recorder:\n    config:\n      recording:\n        strict: true\n';

function settings(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function own(text = STRICT): string {
  return settings(join(place.home, '.config', 'cuff', 'settings.yml'), text);
}

function client(): string {
  return readFileSync(join(place.root, 'state', 'shells', 'client'), 'utf8');
}

async function doctor(): Promise<{ readonly name: string; readonly value: string }[]> {
  const { out } = await place.cuff('doctor --json');
  const checks = JSON.parse(out).checks as { name: string; value: string }[];
  return checks.filter(({ name }) => name === "agent's shell");
}

it('cuff exec writes it, and those that do not read the settings keep it', async () => {
  own();
  expect((await place.cuff('exec aider')).out).toBe('ran\n');
  expect(client()).toContain('\nstrict yes\n');
  await place.cuff('sh -c true');
  expect(client()).toContain('\nstrict yes\n');
});

it('cuff init --shell writes it', async () => {
  own();
  const { code } = await place.init('--client opencode --shell');
  expect(code).toBe(0);
  expect(client()).toContain('\nstrict yes\n');
});

it('no project decides that for the others', async () => {
  settings(join(place.project, '.cuff', 'settings.yml'), STRICT);
  await place.cuff('exec aider');
  expect(client()).toContain('\nstrict no\n');
});

it('cuff doctor says where the files and the settings differ', async () => {
  expect(await doctor()).toEqual([]);
  await place.cuff('exec aider');
  expect(await doctor()).toEqual([]);
  const file = own();
  expect(await doctor()).toMatchObject([{ value: expect.stringContaining('runs what cannot') }]);
  await place.cuff('exec aider');
  expect(await doctor()).toEqual([]);
  rmSync(file);
  expect(await doctor()).toMatchObject([{ value: expect.stringContaining('refuses what cannot') }]);
});
