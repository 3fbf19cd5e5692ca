// A world of tests, as files: the ledger below a state root, the journal in a project.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatVerifierKey } from '../../../src/ledger/note-keys.ts';
import { KEY, type World } from './world.ts';

/** Only the first journal of the world; its anchors are in a file. Returns its directory. */
export function writeWorld(world: World, stateRoot: string, project: string): string {
  const [seal, directory] = [join(stateRoot, 'seal'), join(project, '.cuff', 'recordings')];
  const sessions = join(directory, 'sessions');
  for (const path of [seal, sessions]) mkdirSync(path, { recursive: true, mode: 0o700 });
  const [journal = ''] = world.journals;
  const at = new Date(world.now).toISOString();
  const where = join(stateRoot, 'anchors.log');
  const anchors = world.anchors.map((line) => ({ ...JSON.parse(line), kind: 'file', where }));
  const kept = anchors.map(({ at, size, root }) => `${at} ${KEY.verifier.name} ${size} ${root}\n`);
  writeFileSync(where, kept.join(''));
  const files: Record<string, string | Uint8Array> = {
    vkey: `${formatVerifierKey(KEY.verifier)}\n`,
    leaves: world.leaves.join('') + world.tail,
    hashes: world.hashes,
    'anchors.jsonl': anchors.map((one) => `${JSON.stringify(one)}\n`).join(''),
    'journals.jsonl': `${JSON.stringify({ journal, directory, at })}\n`,
    ...(world.checkpoint !== undefined && { checkpoint: world.checkpoint }),
  };
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(seal, name), content, { mode: 0o600 });
  }
  writeFileSync(join(directory, 'seal.json'), `${JSON.stringify({ journal })}\n`);
  for (const session of world.sessions.filter((one) => one.journal === journal)) {
    const { id, lines, sealedBy, cutOff } = session;
    writeFileSync(join(sessions, `${id}.jsonl`), lines.join(''), { mode: 0o600 });
    const metadata = { session_id: id, status: cutOff ? 'active' : 'complete' };
    const text = JSON.stringify({ ...metadata, sealed_by: sealedBy });
    writeFileSync(join(sessions, `${id}.meta.json`), `${text}\n`, { mode: 0o600 });
  }
  return directory;
}
