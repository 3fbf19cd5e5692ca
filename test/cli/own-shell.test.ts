// `recording.strict` of the user's settings, and whether a policy of the user is enforced, reach
// the shell that agents start.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

function policy(directory: string, mode: string): string {
  return settings(join(directory, 'policy.yml'), `version: 1\nmode: ${mode}\ndefault: allow\n`);
}

const config = () => join(place.home, '.config', 'cuff');

describe('an enforced policy of the user', () => {
  it('reaches it by cuff exec, and those that read no policy keep it', async () => {
    policy(config(), 'enforce');
    await place.cuff('exec aider');
    expect(client()).toContain('\nenforced yes\n');
    await place.cuff('sh -c true');
    expect(client()).toContain('\nenforced yes\n');
    policy(config(), 'record');
    await place.cuff('exec aider');
    expect(client()).toContain('\nenforced no\n');
  });

  it('reaches it by cuff init --shell', async () => {
    policy(config(), 'enforce');
    expect(await place.init('--client opencode --shell')).toMatchObject({ code: 0 });
    expect(client()).toContain('\nenforced yes\n');
  });

  it('reaches it by the hook of the plugin', async () => {
    policy(config(), 'enforce');
    const file = join(place.root, 'env');
    const env = { CLAUDE_ENV_FILE: file, CLAUDE_PLUGIN_ROOT: '/plugin' };
    const event = { hook_event_name: 'SessionStart', session_id: 'c-1', transcript_path: '/t' };
    await place.hook(JSON.stringify({ ...event, cwd: place.project }), env);
    expect(readFileSync(file, 'utf8')).toContain('BASH_EXECUTION_STRING');
    expect(client()).toContain('\nenforced yes\n');
  });

  it('is none of a project, and none of one start', async () => {
    policy(join(place.project, '.cuff'), 'enforce');
    await place.cuff('exec aider', { CUFF_POLICY: policy(place.root, 'enforce') });
    expect(client()).toContain('\nenforced no\n');
  });

  it('that came or went since is told by cuff doctor', async () => {
    await place.cuff('exec aider');
    const file = policy(config(), 'enforce');
    expect(await doctor()).toMatchObject([{ value: expect.stringContaining('be judged; a pol') }]);
    await place.cuff('exec aider');
    expect(await doctor()).toEqual([]);
    rmSync(file);
    expect(await doctor()).toMatchObject([{ value: expect.stringContaining('any more') }]);
  });
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

it('cuff doctor and cuff status say what ran unrecorded', async () => {
  await place.cuff('exec aider');
  expect((await place.cuff('status')).err).not.toContain('Not recorded');
  const file = join(place.root, 'state', 'shells', 'client');
  const broken = join(place.root, 'client');
  writeFileSync(broken, client().replace(/^cuff .*/m, 'cuff /nowhere'));
  writeFileSync(
    join(place.root, 'bin', 'aider'),
    `#!/bin/sh\ncp ${broken} ${file}\n"$SHELL" -c "echo ran"\n`,
  );
  expect((await place.cuff('exec aider')).out).toBe('ran\n');
  const why = 'cuff or its Node is gone; install it again, then run `cuff init --shell`';
  const { err } = await place.cuff('status');
  expect(err).toMatch(/^Not recorded or judged: 1 command of agents, the last \S+ ago/m);
  expect(err).toContain(`(${why})`);
  const { out } = await place.cuff('status --json');
  const unrecorded = [{ count: 1, last_at: expect.any(String), reason: why }];
  expect(JSON.parse(out)).toMatchObject({ unrecorded });
  expect(await doctor()).toMatchObject([{ value: expect.stringContaining('1 command of agents') }]);
});
