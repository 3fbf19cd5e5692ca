// `verify` never throws, whatever the bytes are.
import { expect, it } from 'vitest';
import { isWrong } from '../../../src/sealing/verify/findings.ts';
import { verificationWords } from '../../../src/sealing/verify/words.ts';
import { ordinary, type World } from './world.ts';

const TIMES = process.env.CUFF_LONG === '1' ? 10_000 : 1_000;

const INSERTS = [
  '\0'.repeat(64),
  '\n',
  '{"entry_id":"',
  '"sequence_number":-1,',
  '"sequence_number":1e308,',
  `"salts":${'['.repeat(20_000)}${']'.repeat(20_000)},`,
  '"salts":{"facts":7},',
  '"environment":{"__proto__":1},',
  '\ud800',
  ' ',
];

/** One text of the world, changed somewhere. */
function mutate(world: World, random: (below: number) => number): void {
  const change = (text: string): string => {
    const [from, insert] = [random(text.length + 1), INSERTS[random(INSERTS.length)] ?? ''];
    const kind = random(4);
    if (kind === 0) return text.slice(0, from) + text.slice(from + random(40));
    if (kind === 1) return text.slice(0, from) + insert + text.slice(from);
    if (kind === 2)
      return text.slice(0, from) + String.fromCharCode(random(256)) + text.slice(from + 1);
    return text.slice(0, from) + text.slice(random(text.length + 1));
  };
  const session = world.sessions[random(world.sessions.length)];
  const which = random(5);
  if (which === 0 && session !== undefined) {
    const at = random(session.lines.length);
    session.lines[at] = change(session.lines[at] ?? '');
  } else if (which === 1) {
    const at = random(world.leaves.length);
    world.leaves[at] = change(world.leaves[at] ?? '');
  } else if (which === 2) world.checkpoint = change(world.checkpoint ?? '');
  else if (which === 3) world.anchors = [change(world.anchors.join('\n'))];
  else session?.later.push(change('{"entry_id":"e","salt":"AAAAAAAAAAAAAAAAAAAAAA"}\n'));
}

it('never throws, and has words for whatever it finds', () => {
  let wrong = 0;
  for (let seed = 1; seed <= TIMES; seed += 1) {
    const { world, random } = ordinary(seed % 40);
    for (let at = 0; at <= random(3); at += 1) mutate(world, (below) => random(below));
    for (let skip = 0; skip < seed; skip += 1) random(2);
    mutate(world, random);
    const verification = world.verify();
    if (!verification.intact) wrong += 1;
    expect(verification.intact).toBe(!verification.findings.some(isWrong));
    expect(verificationWords(verification, world.now).join('\n')).not.toMatch(/undefined|NaN/);
  }
  expect(wrong).toBeGreaterThan(TIMES / 2);
});
