// A command that prints the value of a secret variable: named in its entry and the log everywhere,
// and told to the agent where answers may have lines of ours.
import { describe, expect, it } from 'vitest';
import { call, execute, World } from '../recorder/helper.ts';
import { DIALECTS } from './policy-helper.ts';

const VALUE = 'correct-horse/battery+staple';
const env = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  MY_TOKEN: VALUE,
  DB_PASSWORD: 'postgres',
};

/** Those whose tools have answers of a fixed form. */
const SILENT = ['bash_recorder', 'pipe_bash', 'phoenix_bash'];

const WARNED = 'Command printed the value of a secret variable';

describe.each(DIALECTS)('$name', ({ name, plugin: of, tool, argument }) => {
  it('has it in entry and log, and tells the agent if it may', async () => {
    const world = new World({ env });
    const plugin = await world.open(of);
    const first = await call(plugin, tool, { [argument]: 'printenv MY_TOKEN | base64' });
    const second = await call(plugin, tool, { [argument]: 'echo postgres; echo fine' });
    const [leaked, fine] = world.entries();
    expect([leaked?.leaked, fine?.leaked]).toEqual([['MY_TOKEN'], undefined]);
    expect(world.log(WARNED).map(({ level, fields }) => [level, fields.variables])).toEqual([
      ['warn', ['MY_TOKEN']],
    ]);
    const told =
      '[secret: `printenv MY_TOKEN | base64` printed the value of MY_TOKEN; ' +
      'tell the person: cuff record leaks]';
    expect(first.text.includes(told)).toBe(!SILENT.includes(name));
    expect(`${first.text}${second.text}`.split('[secret:').length - 1).toBe(
      SILENT.includes(name) ? 0 : 1,
    );
  });
});

describe('what counts', () => {
  const leakedBy = async (command: string, config: unknown = {}, more = {}) => {
    const world = new World({ env: { ...env, ...more } });
    const plugin = await world.plugin(config);
    await execute(plugin, command);
    return world.entry().leaked;
  };

  it('is any stream, and any encoding', async () => {
    expect(await leakedBy('printenv MY_TOKEN >&2')).toEqual(['MY_TOKEN']);
    expect(await leakedBy('printf %s "x$MY_TOKEN" | base64 -w 8')).toEqual(['MY_TOKEN']);
    expect(await leakedBy('printf %s "$MY_TOKEN" | od -An -tx1 | tr -d " \\n"')).toEqual([
      'MY_TOKEN',
    ]);
  });

  it('is the beginning of an output, and its end', async () => {
    const much = 'head -c 5000000 /dev/zero | tr "\\0" x';
    expect(await leakedBy(`printenv MY_TOKEN; ${much}`)).toEqual(['MY_TOKEN']);
    expect(await leakedBy(`${much}; printenv MY_TOKEN; echo`)).toEqual(['MY_TOKEN']);
  });

  it('is also what settings give to commands, and what was not stored', async () => {
    const execution = { env_overrides: { OTHER_SECRET: 'another-value-of-settings' } };
    expect(await leakedBy('echo $OTHER_SECRET', { execution })).toEqual(['OTHER_SECRET']);
    const recording = { capture_output: false };
    expect(await leakedBy('printenv MY_TOKEN', { recording })).toEqual(['MY_TOKEN']);
    expect(await leakedBy('printenv MY_TOKEN', { recording: { redact: true } })).toEqual([
      'MY_TOKEN',
    ]);
  });

  it('is no short value, no other variable, and nothing where it is switched off', async () => {
    expect(await leakedBy('echo $A_TOKEN', {}, { A_TOKEN: 'seven77' })).toBeUndefined();
    expect(await leakedBy('echo $GITHUB_WORKSPACE', {}, { GITHUB_WORKSPACE: '/runner/work' })).toBe(
      undefined,
    );
    expect(await leakedBy('printenv MY_TOKEN', { recording: { leak_warning: false } })).toBe(
      undefined,
    );
  });
});

it('the warning has the command without its secrets, and never the value', async () => {
  const world = new World({ env });
  const dialect = DIALECTS.find(({ name }) => name === 'cuff_shell');
  if (dialect === undefined) throw new Error('there is no cuff_shell');
  const plugin = await world.open(dialect.plugin);
  const { text } = await call(plugin, 'shell_run', {
    command: `true ${VALUE}; printenv MY_TOKEN >&2 | cat`,
  });
  expect(text).toContain(
    '[secret: `true [REDACTED:MY_TOKEN]; printenv MY_TOKEN >&2 | cat` printed',
  );
  expect(JSON.stringify(world.log(WARNED))).not.toContain(VALUE);
});
