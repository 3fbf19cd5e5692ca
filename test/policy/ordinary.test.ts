// What agents write all day must be understood: a tool that flags it would be switched off. The
// commands are in `fixtures/`, one to a line, and longer ones between lines of dashes.
import { expect, it } from 'vitest';
import { analyse } from '../../src/policy/analyse/index.ts';
import { ORDINARY } from './fuzz/campaign.ts';

const SHARE_MAX = 0.005;

it('at most 0.5 % of ordinary commands cannot be analysed', () => {
  const options = { cwd: '/home/user/app', home: '/home/user' };
  const flagged = ORDINARY.map((text) => analyse(text, options))
    .filter(({ problems }) => problems.length > 0)
    .map(({ text, problems }) => `${JSON.stringify(text)}: ${problems[0]?.message}`);
  const share = flagged.length / ORDINARY.length;
  process.stderr.write(
    `${flagged.length} of ${ORDINARY.length} ordinary commands (${(share * 100).toFixed(2)} %) ` +
      `cannot be analysed${flagged.map((line) => `\n  ${line}`).join('')}\n`,
  );
  expect(ORDINARY.length).toBeGreaterThanOrEqual(600);
  expect(share, flagged.join('\n')).toBeLessThanOrEqual(SHARE_MAX);
});

it('every ordinary command has at least one unit', () => {
  const options = { cwd: '/home/user/app', home: '/home/user' };
  const silent = ORDINARY.filter((text) => analyse(text, options).units.length === 0);
  expect(silent).toEqual([]);
});
