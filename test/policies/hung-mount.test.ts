// A command under an enforced policy names a path on a mount that no longer answers: the policy
// says so in its answer, and the server answers its other calls meanwhile.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PolicyEngine } from '../../src/policies/engine.ts';
import * as files from '../../src/policies/files.ts';
import { MountReader } from '../../src/policies/mount-reader.ts';
import { clientNamed, Guarded } from '../mcp/policy-life.ts';
import { lacking } from '../requirements.ts';
import { hungMount, noMount } from '../run/hung-mount.ts';
import { PolicyPlace } from './place.ts';

const why = noMount();
if (why !== undefined) process.stderr.write(`${why}\n`);
const noFuse = lacking(why !== undefined, 'no FUSE file system can be mounted here');

const ALLOW = 'mode: enforce\ndefault: allow\ngate: "off"\n';

describe.skipIf(noFuse)('under an enforced policy, on a hung mount', () => {
  it.each([
    ['an argument', (dir: string) => ({ command: `cat ${dir}/file` })],
    ['the target of a redirection', (dir: string) => ({ command: `echo > ${dir}/new` })],
    ['a link of the project', () => ({ command: 'cat link/file' })],
    ['the working directory', (dir: string) => ({ command: 'true', cwd: dir })],
    ['the directory of `cd`', (dir: string) => ({ command: `cd ${dir} && cat file` })],
  ])('%s is asked about, and other calls are answered', async (_, call) => {
    const life = new Guarded(ALLOW);
    const mount = await hungMount();
    symlinkSync(mount.dir, join(life.project, 'link'));
    const client = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'cuff_shell');
    await client.call('shell_run', { command: 'true' });
    await mount.hang();
    const asked = client.call('shell_run', call(mount.dir));
    const other = await client.call('shell_run', { command: 'echo other' });
    expect(other.text).toMatch(/other/);
    const { text } = await asked;
    expect(text).toMatch(/^cuff policy: needs approval/);
    expect(text).toContain(`\`${mount.dir}\` does not answer, so the policy cannot see where`);
    // The next one is refused, too, and starts no second process that waits for the mount.
    const again = await client.call('shell_run', call(mount.dir));
    expect(again.text).toContain(`\`${mount.dir}\` does not answer`);
  });

  it('a sandbox that has to look there is refused', async () => {
    const mount = await hungMount();
    const scopes = `scopes: { write: ["${mount.dir}/**"] }\n`;
    const life = new Guarded(`${ALLOW}sandbox: bwrap\n${scopes}`);
    const client = await life.connect(clientNamed('by hand'), 'cuff', '--dialect', 'cuff_shell');
    await mount.hang();
    const { text } = await client.call('shell_run', { command: 'true' });
    expect(text).toMatch(/there can be no sandbox here: (`.*` does not answer|bubblewrap)/);
  });
});

describe.skipIf(noFuse)('a policy and a mount that may stop answering', () => {
  it('are decided as with a local one while it answers', async () => {
    const mount = await hungMount();
    const place = new PolicyPlace();
    symlinkSync(mount.dir, join(place.project, 'link'));
    const rules = 'commands: [{ pattern: cat *, decision: allow }]';
    const text = `mode: enforce\ndefault: DEFAULT\npolicies: [{ name: x, ${rules} }]\n`;
    const decide = async (policy: string, command: string) => {
      place.write(place.own, policy);
      const env = { HOME: join(place.dir, 'home') };
      const stateRoot = join(place.dir, 'state');
      const where = { project: place.project, env, stateRoot, systemFile: join(place.dir, 'none') };
      const engine = PolicyEngine.open({ ...where, trusted: true, watch: false }, files);
      onTestFinished(() => engine.close());
      const decided = await engine.paths.settled(() => engine.decide(command, place.project));
      return [decided?.decision.verdict, decided?.decision.code];
    };
    const ask = text.replace('DEFAULT', 'ask');
    const open = `${ask}scopes: { read: ["${mount.dir}/**"] }\n`;
    expect(await decide(ask, 'cat link/file')).toEqual(['ask', 'path.outside']);
    expect(await decide(open, `cat ${mount.file}`)).toEqual(['allow', 'rule.allow']);
    expect(await decide(open, 'cat link/file')).toEqual(['allow', 'rule.allow']);
    await mount.hang();
    expect(await decide(open, `cat ${mount.file}`)).toEqual(['ask', 'path.unknown']);
    const sealed = open.replace('default: ask', 'default: deny');
    expect(await decide(sealed, `cat ${mount.file}`)).toEqual(['deny', 'path.unknown']);
    expect(await decide(open, 'cat near')).toEqual(['allow', 'rule.allow']);
  });

  it('are read again when the mount answers, by the process that waited for it', async () => {
    const mount = await hungMount();
    const reader = new MountReader();
    onTestFinished(() => reader.close());
    expect(await reader.real(mount.file)).toBe(mount.file);
    await mount.hang();
    expect(await reader.real(mount.file)).toBeUndefined();
    expect(await reader.real('/')).toBeUndefined(); // that process is the only one
    await mount.end();
    let real: string | undefined;
    while (real === undefined) {
      real = await reader.real('/');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(real).toBe('/');
  });
});
