// A secret of the environment, planted and echoed: where it may be found afterwards, and where not.
import { describe, expect, it } from 'vitest';
import { processMetrics } from '../../src/ops/metrics.ts';
import { until } from '../cli/helper.ts';
import { execute, World } from './helper.ts';

const SECRET = 'hunter2/hunter2+hunter2';
const env = { PATH: process.env.PATH, DEPLOY_TOKEN: SECRET };

/** Where it is, in any form: captures hold the bytes of a command as they are. */
function places(world: World): string[] {
  const forms = [
    SECRET,
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString('base64').slice(0, -2),
  ];
  const found = new Set(forms.flatMap((form) => world.filesWith(form)));
  return [...found].map((path) => path.replace(/sessions\/[^/]+\//, 'sessions/ID/')).sort();
}

async function leak(recording: Readonly<Record<string, unknown>>): Promise<World> {
  const world = new World({ env });
  const plugin = await world.plugin({ recording });
  const command = `echo "$DEPLOY_TOKEN" ${SECRET}; printf %s "$DEPLOY_TOKEN" | base64`;
  const { stdout } = await execute(plugin, `${command} >&2; exit 5`, {
    description: `with ${SECRET} and ${encodeURIComponent(SECRET)}`,
  });
  expect(stdout).toBe(`${SECRET} ${SECRET}\n`);
  await execute(plugin, 'true', { working_directory: '.', description: 'quiet' });
  await world.stop(plugin);
  await until(() => world.filesWith('Session finalized').length > 0, 'the log is written');
  return world;
}

describe('a secret that a command prints', () => {
  it('stays in stored output by default, and in nothing else', async () => {
    const world = await leak({});
    expect(places(world)).toEqual([
      expect.stringMatching(/^project\/\.cuff\/recordings\/sessions\/.*\.jsonl$/),
      'state/sessions/ID/output.bin',
    ]);
    const [entry] = world.entries();
    expect(entry?.command).toBe(
      'echo "$DEPLOY_TOKEN" [REDACTED:DEPLOY_TOKEN]; ' +
        'printf %s "$DEPLOY_TOKEN" | base64 >&2; exit 5',
    );
    expect(entry?.description).toBe('with [REDACTED:DEPLOY_TOKEN] and [REDACTED:DEPLOY_TOKEN]');
    expect(entry?.stdout).toBe(`${SECRET} ${SECRET}\n`);
    const metrics = await processMetrics();
    expect(await metrics.text()).not.toContain('hunter2');
  });

  it('is in no entry when stored output is redacted, only in a capture', async () => {
    const world = await leak({ redact: true });
    expect(places(world)).toEqual(['state/sessions/ID/output.bin']);
    expect(world.entries()[0]).toMatchObject({
      stdout: '[REDACTED:DEPLOY_TOKEN] [REDACTED:DEPLOY_TOKEN]\n',
      stderr: '[REDACTED:DEPLOY_TOKEN]\n',
    });
  });

  it('is in no file at all when output is not captured', async () => {
    expect(places(await leak({ capture_output: false }))).toEqual([]);
  });

  it('is as secret when the settings have it', async () => {
    const world = new World({ env: { PATH: process.env.PATH } });
    const overrides = { env_overrides: { DEPLOY_TOKEN: SECRET } };
    const plugin = await world.plugin({ recording: { redact: true }, execution: overrides });
    await execute(plugin, `echo ${SECRET} $DEPLOY_TOKEN`);
    expect(world.entry()).toMatchObject({
      command: 'echo [REDACTED:DEPLOY_TOKEN] $DEPLOY_TOKEN',
      stdout: '[REDACTED:DEPLOY_TOKEN] [REDACTED:DEPLOY_TOKEN]\n',
    });
  });
});

describe('a secret that the words of a command call one', () => {
  it('is in no file but the output, and the command gets it', async () => {
    const world = new World({ env: { PATH: process.env.PATH } });
    const plugin = await world.plugin({});
    const words = `--password ${SECRET} --api-key=${SECRET} x://me:${encodeURIComponent(SECRET)}@h`;
    const { stdout } = await execute(plugin, `PGPASSWORD=${SECRET} sh -c 'echo ${words} ${'$'}#'`);
    expect(stdout).toContain(`--password ${SECRET} --api-key=${SECRET}`);
    expect(world.entry().command).toBe(
      "PGPASSWORD=[REDACTED:PGPASSWORD] sh -c 'echo --password [REDACTED:password] " +
        "--api-key=[REDACTED:api-key] x://me:[REDACTED:password]@h $#'",
    );
    expect(world.entry().process_list?.join('\n') ?? '').not.toContain('hunter2');
    expect(places(world)).toEqual([
      expect.stringMatching(/^project\/\.cuff\/recordings\/sessions\/.*\.jsonl$/),
      'state/sessions/ID/output.bin',
    ]);
    await world.stop(plugin);
  });
});
