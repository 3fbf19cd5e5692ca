// Whose output is shown from its start: what lists is asked for what it lists.
import { expect, it } from 'vitest';
import { isListing } from '../../src/agent/report-listing.ts';

it.each([
  'git log --stat',
  'git -C sub show HEAD',
  'git diff',
  'cat file',
  'cd src && ls -la',
  'find . -name x | sort',
  'grep -rn word src',
  'rg word',
  'curl -s http://127.0.0.1:1/',
  'jq . file | head -5',
])('%s lists', (command) => {
  expect(isListing(command)).toBe(true);
});

it.each([
  'npm test',
  'make | grep error',
  'git push',
  'cat file | tail -5',
  'if x; then cat y; fi',
])('%s does not', (command) => {
  expect(isListing(command)).toBe(false);
});
