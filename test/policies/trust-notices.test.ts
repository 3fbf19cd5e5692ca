// What `cuff status`, `cuff doctor` and `cuff record` say of a project that waits for trust, and
// what `--trust` changes for one command.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { binary, Cli, type Result } from '../cli/helper.ts';
import { trusted } from '../trust.ts';

const cli = new Cli();
const project = mkdtempSync(join(tmpdir(), 'cuff-notices-'));
const env = { XDG_CONFIG_HOME: join(cli.root, 'config') };

const SETTINGS =
  "The project's settings in settings.yml wait for a person to run `cuff trust` (this directory " +
  'was never trusted); not in force: plugins.bash_recorder.config.recording.capture_output.';
const POLICY =
  "Parts of the project's policy in .cuff/policy.yml wait for a person to run `cuff trust`: " +
  '1 allow rule; what it denies, asks about and protects is in force.';

beforeAll(() => {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const config = 'config:\n      recording:\n        capture_output: false\n';
  write(join(project, 'settings.yml'), `plugins:\n  bash_recorder:\n    ${config}`);
  const rules = 'policies: [{ name: x, commands: [{ pattern: ls }] }]\n';
  write(join(project, '.cuff', 'policy.yml'), rules);
  write(join(env.XDG_CONFIG_HOME, 'cuff', 'policy.yml'), 'default: ask\n');
});

afterAll(async () => {
  rmSync(project, { recursive: true, force: true });
  await cli.close();
});

function cuff(...args: readonly string[]): Promise<Result> {
  return cuffIn(project, ...args);
}

function cuffIn(directory: string, ...args: readonly string[]): Promise<Result> {
  const enter = ['sh', '-c', 'cd "$0" && exec "$@"', directory];
  return cli.start([...enter, process.execPath, binary('cuff'), ...args], { env }).result;
}

it('counts for one command with --trust, which writes nothing', async () => {
  const clean = await cuff('record', 'clean', '--force', '--trust');
  const nothing = expect.stringContaining('No recordings found.');
  expect(clean).toMatchObject({ code: 0, out: nothing, err: '' });
  const verdict = async (...more: readonly string[]): Promise<string> =>
    JSON.parse((await cuff('policy', 'check', 'ls', '--json', ...more)).out).decision;
  expect([await verdict(), await verdict('--trust')]).toEqual(['ask', 'allow']);
  const rules = async (...more: readonly string[]): Promise<string> =>
    (await cuff('policy', 'export', '--to', 'claude', ...more)).out;
  expect([await rules(), await rules('--trust')]).toEqual([
    expect.not.stringContaining('Bash(ls'),
    expect.stringContaining('Bash(ls'),
  ]);
  expect(existsSync(join(env.XDG_CONFIG_HOME, 'cuff', 'trusted.json'))).toBe(false);
});

it('finds the journal that waiting settings name with --trust', async () => {
  const other = mkdtempSync(join(tmpdir(), 'cuff-notices-'));
  onTestFinished(() => rmSync(other, { recursive: true, force: true }));
  mkdirSync(join(other, 'elsewhere'), { mode: 0o700 });
  const config = 'config: { recording: { directory: elsewhere } }';
  writeFileSync(join(other, 'settings.yml'), `plugins: { bash_recorder: { ${config} } }\n`);
  writeFileSync(join(other, 'policy.yml'), 'default: ask\n');
  for (const words of [
    ['record', 'list'],
    ['record', 'stats'],
    ['policy', 'test', 'policy.yml'],
    ['policy', 'diff', 'policy.yml', 'policy.yml'],
  ]) {
    const journal = `Journal: ${join(other, 'elsewhere')}\n`;
    expect([words, (await cuffIn(other, ...words)).err]).not.toEqual([words, journal]);
    expect([words, (await cuffIn(other, ...words, '--trust')).err]).toEqual([words, journal]);
  }
});

it('names the keys that wait before trust, and nothing afterwards', async () => {
  expect((await cuff('status')).err).toContain(`${SETTINGS}\n${POLICY}\n`);
  const { notices } = JSON.parse((await cuff('status', '--json')).out);
  expect(notices).toEqual([SETTINGS, POLICY]);
  const { checks } = JSON.parse((await cuff('doctor', '--json')).out);
  const hint = 'See it with `cuff trust --show`, and run `cuff trust` if it is yours.';
  const waits = { name: 'project trust', status: 'warn', hint };
  expect(checks).toContainEqual({ ...waits, value: SETTINGS });
  expect(checks).toContainEqual({ ...waits, value: POLICY });
  expect((await cuff('record', 'clean', '--force')).err).toContain(SETTINGS);

  trusted(project, env);
  expect(JSON.parse((await cuff('status', '--json')).out).notices).toBeUndefined();
  expect((await cuff('doctor')).out).not.toContain('project trust');
});
