// `cuff record generate`: its place. The policy engine that it needs comes later.

import { say } from '../output.ts';

export async function generate(): Promise<void> {
  say('Generating policies is not there yet: it comes with the policy engine.');
  process.exitCode = 1;
}
