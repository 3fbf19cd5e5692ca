import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Journal } from './helper.ts';

const journal = new Journal();
const OLD = ['20260118_143052_aaaaaaaa-0001', '20260118_143052_bbbbbbbb-0002'] as const;
const LOST = '20260120_090000_eeeeeeee-00cc';
const NEW = ['20260119_090000_cccccccc-00aa', '20260119_090000_dddddddd-00bb'] as const;

beforeAll(() => {
  // Of two servers that began in the same second; an older cuff gave both the same ids.
  journal.add(OLD[0], { entries: [{ command: 'git status', stdout: 'clean\n' }] });
  journal.add(OLD[1], { entries: [{ command: 'ls' }, { command: 'npm test', exit_code: 1 }] });
  for (const id of NEW) {
    const entry_id = `e_20260119_090000_001-${id.slice(-4)}`;
    journal.add(id, { entries: [{ command: `echo ${id.slice(-2)}`, stdout: 'x\n', entry_id }] });
  }
  const entry_id = 'e_20260120_090000_001-00cc';
  journal.add(LOST, {
    entries: [{ command: 'make', stdout: 'x\n', entry_id, end_reason: 'interrupted' }],
  });
});
afterAll(() => journal.close());

describe('cuff record show with the id of a recording', () => {
  it('shows the command, what it printed, and its session', async () => {
    const { code, out, err } = await journal.run('show', 'e_20260119_090000_001-00bb');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`Recording: e_20260119_090000_001-00bb\nSession: ${NEW[1]}\n`);
    expect(out).toMatch(/ {4}1 .* exit 0 .* echo bb\n {7}x\n$/);
    const { entry } = await journal.json<{ entry: object }>(
      'show',
      'e_20260118_143052_002',
      '--json',
    );
    expect(entry).toMatchObject({ session_id: OLD[1], command: 'npm test', exit_code: 1 });
  });

  it('says that the end may be missing where the runner was killed', async () => {
    const { out } = await journal.run('show', 'e_20260120_090000_001-00cc');
    expect(out).toMatch(
      / make\n {7}x\n {7}\(Output may be missing at the end: its runner was killed\)\n$/,
    );
  });

  it('names the sessions when an id of an older journal is not the only one', async () => {
    const { code, out, err } = await journal.run('show', 'e_20260118_143052_001');
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain("'e_20260118_143052_001' is the ID of 2 recordings");
    expect(err).toContain(`e_20260118_143052_001 in ${OLD[0]}: git status`);
    expect(err).toContain(`e_20260118_143052_001 in ${OLD[1]}: ls`);
    const short = await journal.run('show', 'e_20260119_090000_001');
    expect(short.err).toContain(`e_20260119_090000_001-00aa in ${NEW[0]}: echo aa`);
  });

  it('says that there is none', async () => {
    const { code, err } = await journal.run('show', 'e_20260118_143052_003-0001');
    expect(code).toBe(1);
    expect(err).toContain("Recording 'e_20260118_143052_003-0001' not found");
  });
});
