import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cli } from './helper.ts';

const cli = new Cli();
beforeAll(async () => {
  await cli.run('alpha-1', 'echo', 'one');
});
afterAll(() => cli.close());

describe('an id', () => {
  it('must be given, also when there is only one capture', async () => {
    for (const command of ['tail', 'cat', 'kill', 'pin']) {
      const { code, out, err } = await cli.cuff(command);
      expect([command, code, out]).toEqual([command, 2, '']);
      expect(err).toBe(`cuff: missing required argument 'id'\nTry \`cuff help ${command}\`.\n`);
      const empty = await cli.cuff(command, '');
      expect([command, empty.code, empty.out, empty.err]).toEqual([
        command,
        2,
        '',
        'cuff: The id is empty.\nSee the ids with `cuff ls`.\n',
      ]);
    }
  });

  it('has no word for the latest one', async () => {
    for (const word of ['latest', 'last', '@', '%']) {
      const { code, out } = await cli.cuff('cat', word);
      expect([word, code, out]).toEqual([word, 1, '']);
    }
  });

  it('may be any part that no other id has', async () => {
    for (const part of ['alpha-1', 'alpha', 'pha-']) {
      expect((await cli.cuff('cat', part)).out).toBe('one\n');
    }
  });

  it('that is a whole id is meant, also when it is part of others', async () => {
    await cli.run('alpha', 'echo', 'whole');
    expect((await cli.cuff('cat', 'alpha')).out).toBe('whole\n');
  });

  it('that fits several is refused with the candidates', async () => {
    await cli.run('alpha-2', 'echo', 'two');
    const { code, out, err } = await cli.cuff('kill', 'alpha-');
    expect([code, out, err]).toEqual([
      2,
      '',
      "cuff: 'alpha-' is part of 2 ids.\nGive more of one of them:\n  alpha-1\n  alpha-2\n",
    ]);
  });

  it('that fits none, or could be no id at all, is not found', async () => {
    for (const part of ['omega', '../sessions/alpha', '/etc/passwd', '\x1b[2J']) {
      const { code, out, err } = await cli.cuff('tail', part);
      expect([code, out]).toEqual([1, '']);
      expect(err).toBe(
        `cuff: session not found\nNo id contains '${part.replace('\x1b', '\\x1b')}'. ` +
          'List the captures there are with `cuff ls`.\n',
      );
    }
  });
});
