// `verify` never throws, whatever the bytes are: those in memory, and those of every file on disk
// that it reads.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isWrong } from '../../../src/sealing/verify/findings.ts';
import { gatherEvidence } from '../../../src/sealing/verify/gather.ts';
import { type Verification, verifyEvidence } from '../../../src/sealing/verify/verify.ts';
import { verificationJson, verificationWords } from '../../../src/sealing/verify/words.ts';
import { openStore } from '../../../src/shell/store.ts';
import { seedOf } from '../../seed.ts';
import { writeWorld } from './disk.ts';
import { ordinary, randomOf, type World } from './world.ts';

const LONG = process.env.CUFF_LONG === '1';
const TIMES = LONG ? 10_000 : 1_000;
const FILES = LONG ? 10_000 : 500;
const TIMEOUT_MS = 3_600_000; // a long run on a busy machine takes ten minutes

type Random = (below: number) => number;

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

/** A text that is changed somewhere. */
function changed(text: string, random: Random): string {
  const [from, insert] = [random(text.length + 1), INSERTS[random(INSERTS.length)] ?? ''];
  const kind = random(4);
  if (kind === 0) return text.slice(0, from) + text.slice(from + random(40));
  if (kind === 1) return text.slice(0, from) + insert + text.slice(from);
  if (kind === 2)
    return text.slice(0, from) + String.fromCharCode(random(256)) + text.slice(from + 1);
  return text.slice(0, from) + text.slice(random(text.length + 1));
}

/** One text of the world. */
function mutate(world: World, random: Random): void {
  const session = world.sessions[random(world.sessions.length)];
  const which = random(5);
  if (which === 0 && session !== undefined) {
    const at = random(session.lines.length);
    session.lines[at] = changed(session.lines[at] ?? '', random);
  } else if (which === 1) {
    const at = random(world.leaves.length);
    world.leaves[at] = changed(world.leaves[at] ?? '', random);
  } else if (which === 2) world.checkpoint = changed(world.checkpoint ?? '', random);
  else if (which === 3) world.anchors = [changed(world.anchors.join('\n'), random)];
  else {
    session?.later.push(changed('{"entry_id":"e","salt":"AAAAAAAAAAAAAAAAAAAAAA"}\n', random));
  }
}

function expectWords(verification: Verification, now: number, seed: number): void {
  expect(verification.intact).toBe(!verification.findings.some(isWrong));
  const words = verificationWords(verification, now).join('\n');
  expect(words, `seed ${seed}`).not.toMatch(/undefined|NaN/);
  JSON.stringify(verificationJson(verification));
}

it('never throws over texts, and has words for whatever it finds', { timeout: TIMEOUT_MS }, () => {
  let wrong = 0;
  for (let turn = 0; turn < TIMES; turn += 1) {
    const seed = seedOf('mutations') + turn;
    const { world } = ordinary(seed % 40);
    const random = randomOf(seed);
    for (let at = 0; at <= random(3); at += 1) mutate(world, random);
    const verification = world.verify();
    if (!verification.intact) wrong += 1;
    expectWords(verification, world.now, seed);
  }
  expect(wrong).toBeGreaterThan(TIMES / 2);
});

it('never throws over files', { timeout: TIMEOUT_MS }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-mutated-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [root, project] = [join(dir, 'state'), join(dir, 'project')];
  const { world } = ordinary(1);
  mkdirSync(project);
  const directory = writeWorld(world, root, project);
  const capture = sealedCapture(root, world);
  const folders = [join(root, 'seal'), directory, join(directory, 'sessions'), capture];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((file) => file.isFile())
      .map(({ name }) => join(folder, name)),
  );
  let wrong = 0;
  for (let turn = 0; turn < FILES; turn += 1) {
    const seed = seedOf('mutations') + turn;
    const random = randomOf(seed);
    const path = files[turn % files.length] ?? '';
    const whole = readFileSync(path);
    writeFileSync(path, changed(whole.toString('latin1'), random), 'latin1');
    const store = { ...openStore(root), now: () => world.now };
    const evidence = gatherEvidence({ store, directories: 'all', deep: true });
    const verification = verifyEvidence(evidence);
    if (!verification.intact) wrong += 1;
    expectWords(verification, world.now, seed);
    writeFileSync(path, whole);
  }
  expect(wrong).toBeGreaterThan(FILES / 4);
});

/** The files of a capture that the ledger has a leaf of; none of them fits it. */
function sealedCapture(root: string, world: World): string {
  const [run] = world.leaves.flatMap(
    (leaf) => /^cuff\/1 entry .* (run-\d+)\n$/.exec(leaf)?.[1] ?? [],
  );
  const id = run ?? 'run-0';
  const dir = join(root, 'sessions', id);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const meta = { schema_version: 1, session_id: id, argv: ['true'], cwd: '/', created_at: 0 };
  writeFileSync(join(dir, 'meta.json'), `${JSON.stringify(meta)}\n`, { mode: 0o600 });
  writeFileSync(join(dir, 'final.json'), '{"state":"exited","salt":"AAAAAAAAAAAAAAAAAAAAAA"}\n');
  writeFileSync(join(dir, 'output.bin'), 'out\n');
  return dir;
}
