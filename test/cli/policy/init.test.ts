// `cuff policy init` as a program: what it shows, whom it asks, and when it writes.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { readPolicy } from '../../../src/policy/load.ts';
import { claudeCall } from '../../recordings/transcripts/helper.ts';
import { binary } from '../helper.ts';
import { atOwnTerminal, type Ended } from '../terminal.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-policy-init-')));
const home = join(root, 'you');
const FILES = {
  'package.json': '{"scripts":{"test":"vitest","deploy":"npm publish"}}\n',
  Makefile: 'all:\n\techo\n',
};
let count = 0;

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

function project(files: Readonly<Record<string, string>> = FILES): string {
  count += 1;
  const folder = join(home, `app${count}`);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

type Given = { readonly answer?: string; readonly asAgent?: boolean };

function init(cwd: string, words: readonly string[] = [], given: Given = {}): Promise<Ended> {
  const env = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: '',
    CUFF_STATE_ROOT: join(root, 'state'),
    NO_COLOR: '1',
    ...(given.asAgent === true && { GEMINI_CLI: '1' }),
  };
  const command = [process.execPath, binary('cuff'), 'policy', 'init', ...words];
  return atOwnTerminal(command, { cwd, env, ...given });
}

function policyIn(folder: string): string {
  return join(folder, '.cuff', 'policy.yml');
}

describe('cuff policy init', () => {
  it('shows the policy, asks, and writes it after a yes', async () => {
    const folder = project();
    const { code, out, err } = await init(folder, [], { answer: 'y' });
    expect(err).toContain('Write .cuff/policy.yml? [y/N] ');
    expect([code, err]).toEqual([0, expect.stringContaining('Wrote .cuff/policy.yml.')]);
    const text = readFileSync(policyIn(folder), 'utf8');
    expect(out.startsWith(text)).toBe(true);
    expect(out).toContain('The preset `dev` for Node (npm), Make: no commands to try it on');
    expect(text).toContain('# - "npm run deploy *" # it pushes, publishes or deploys\n');
    const read = readPolicy(text, { home, project: folder });
    expect(read).toHaveProperty('policy');
  });

  it('names a schema that is there, in the first line', async () => {
    const folder = project();
    await init(folder, ['--yes']);
    const [line = ''] = readFileSync(policyIn(folder), 'utf8').split('\n');
    const address = line.replace('# yaml-language-server: $schema=', '');
    expect(address).toMatch(/^file:\/\/\/\S+\/docs\/policy\.schema\.json$/);
    expect(JSON.parse(readFileSync(fileURLToPath(address), 'utf8'))).toHaveProperty('properties');

    const installed = project();
    mkdirSync(join(installed, 'node_modules'));
    const own = join(import.meta.dirname, '..', '..', '..');
    symlinkSync(own, join(installed, 'node_modules', 'cuff'));
    await init(installed, ['--yes']);
    const [near = ''] = readFileSync(policyIn(installed), 'utf8').split('\n');
    expect(near).toBe(
      '# yaml-language-server: $schema=../node_modules/cuff/docs/policy.schema.json',
    );
    expect(existsSync(join(installed, '.cuff', near.slice(near.indexOf('=') + 1)))).toBe(true);
  });

  it('writes nothing after a no', async () => {
    const folder = project();
    const { code, err } = await init(folder, [], { answer: 'n' });
    expect([code, err]).toEqual([1, expect.stringContaining('Nothing was written.')]);
    expect(existsSync(join(folder, '.cuff'))).toBe(false);
  });

  it('without a terminal shows it and writes nothing, but for --yes', async () => {
    const folder = project();
    const { code, out, err } = await init(folder, ['--preset', 'ci']);
    expect([code, err]).toEqual([2, 'Nothing was written. Say --yes.\n']);
    expect(out).toContain('default: deny\n');
    expect(existsSync(join(folder, '.cuff'))).toBe(false);
    const written = await init(folder, ['--preset', 'read-only', '--yes']);
    expect([written.code, readFileSync(policyIn(folder), 'utf8')]).toEqual([
      0,
      expect.stringMatching(/^default: ask\n[\s\S]*^version: 1\n/m),
    ]);
  });

  it('replaces no policy without a yes of its own, whatever --yes says', async () => {
    const folder = project();
    mkdirSync(join(folder, '.cuff'));
    const own = 'default: deny # mine\n';
    writeFileSync(policyIn(folder), own);
    const forced = await init(folder, ['--yes']);
    expect([forced.code, forced.err]).toEqual([
      2,
      expect.stringContaining('There is a policy already: .cuff/policy.yml; it was not changed.'),
    ]);
    const shown = await init(folder);
    expect([shown.code, shown.out]).toEqual([2, expect.stringContaining('-default: deny # mine')]);
    expect(readFileSync(policyIn(folder), 'utf8')).toBe(own);
    const no = await init(folder, [], { answer: '' });
    expect([no.code, readFileSync(policyIn(folder), 'utf8')]).toEqual([1, own]);
    const yes = await init(folder, [], { answer: 'yes' });
    expect(yes.err).toContain('Replace your own .cuff/policy.yml? [y/N] ');
    expect([yes.code, readFileSync(policyIn(folder), 'utf8')]).toEqual([
      0,
      expect.stringContaining('preset `dev`'),
    ]);
    const again = await init(folder, ['--directory', join(folder, 'none')]);
    expect(again.code).toBe(1); // such a journal is not there
    const same = await init(folder);
    expect([same.code, same.err]).toEqual([
      0,
      'Nothing to do: .cuff/policy.yml is this policy already.\n',
    ]);
  });

  it('is nothing for an agent, also with --yes', async () => {
    const folder = project();
    const { code, out, err } = await init(folder, ['--yes'], { asAgent: true });
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^cuff: An agent cannot write its own policy: [A-Z_]+ is set\.\n/);
    expect(existsSync(join(folder, '.cuff'))).toBe(false);
  });

  it('writes nothing where a link leads out of the project', async () => {
    const folder = project();
    const other = project({});
    symlinkSync(other, join(folder, '.cuff'));
    const { code, err } = await init(folder, ['--yes']);
    expect([code, err]).toEqual([2, expect.stringContaining('leads out of its directory')]);
    expect(existsSync(join(other, 'policy.yml'))).toBe(false);
  });

  it('does not wait for a pipe in the place of a file', async () => {
    const folder = project({});
    for (const name of ['package.json', 'pyproject.toml', 'Makefile']) {
      expect(spawnSync('mkfifo', [join(folder, name)]).status).toBe(0);
    }
    const { code, out } = await init(folder);
    expect(code).toBe(2);
    expect(out).toContain('# Not read: package.json: it is no plain file\n');
  });

  it('tries it on what agents ran before, and suggests what that asks for', async () => {
    const folder = project();
    const folders = join(home, '.claude', 'projects', 'p');
    mkdirSync(folders, { recursive: true });
    const commands = ['npm test', 'git status', 'terraform plan', 'terraform plan', 'rm -rf ~/x'];
    const lines = commands.flatMap((command, at) =>
      claudeCall(`t${at}`, command, {
        cwd: folder,
        session: `s${at}`,
        at: new Date().toISOString(),
      }),
    );
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    writeFileSync(join(folders, 's.jsonl'), text);
    const { code, out } = await init(folder, ['--from-history']);
    expect(code).toBe(2);
    expect(out).toContain("tried on agents' own transcripts (since 90d):");
    expect(out).toContain('Commands: 5 (4 different)\n');
    expect(out).toContain('  #     - "terraform plan" # 2 x\n');
    // What destroys something outside is no rule to suggest.
    expect(out).not.toMatch(/- "rm .*~/);
    expect(out).toContain('rm -rf ~/x');
    expect(existsSync(join(folder, '.cuff'))).toBe(false);
  });
});
