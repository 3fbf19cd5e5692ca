// `cuff verify` as a program: what it says of a proof, and how it exits.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { formatSignature } from '../../src/ledger/note.ts';
import { formatVerifierKey, signerKey } from '../../src/ledger/note-keys.ts';
import { cosign } from '../../src/ledger/witness.ts';
import { anchorCode } from '../../src/sealing/verify/anchors.ts';
import { writeWorld } from '../sealing/verify/disk.ts';
import { KEY, proofOf, WITNESS } from '../sealing/verify/small-proof.ts';
import { ordinary, type World } from '../sealing/verify/world.ts';
import { binary, Cli, type Result } from './helper.ts';

const cli = new Cli();
const VKEY = formatVerifierKey(KEY.verifier);
const OTHER = signerKey(KEY.verifier.name, new Uint8Array(32).fill(8));

afterAll(() => cli.close());

function file(name: string, text: string): string {
  const path = join(cli.root, name);
  writeFileSync(path, text);
  return path;
}

const good = file('good.proof', JSON.stringify(proofOf(['facts', 'text'])));
const vkey = file('ledger.vkey', `${VKEY}\n`);

describe('cuff verify PROOF', () => {
  it('says what is proven and what is not', async () => {
    const { code, out, err } = await cli.cuff('verify', good, '--vkey', vkey);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('  it is line 2 of the 3 lines of the ledger cuff.local/abcdefghijklm\n');
    expect(out).toContain('  no witness is asked for: ');
    const json = await cli.cuff('verify', good, '--vkey', VKEY, '--json');
    expect(JSON.parse(json.out)).toMatchObject({
      proven: true,
      index: 1,
      in_tree: true,
      signed_by: VKEY,
      parts: { facts: { state: 'as_sealed' }, stdout: { state: 'not_shown' } },
    });
  });

  it('exits 1 for a proof that does not hold', async () => {
    const changed = { ...proofOf(['facts']), parts: { facts: { salt: '', data: '' } } };
    const { code, out } = await cli.cuff(
      'verify',
      file('bad', JSON.stringify(changed)),
      '--vkey',
      VKEY,
    );
    expect(code).toBe(1);
    expect(out).toContain('  WRONG: facts: shown, and not what was sealed\n');
  });

  it('exits 2 for what is no proof, key or policy, and says which', async () => {
    const calls: [args: string[], words: string][] = [
      [[join(cli.root, 'gone'), '--vkey', VKEY], 'gone cannot be read: ENOENT.'],
      [[vkey, '--vkey', VKEY], 'ledger.vkey: it is no proof that cuff wrote.'],
      [[good], 'There is no ledger here, so no key to verify with.'],
      [['--at', 'CUFF 1'], "'CUFF 1' is no code of a ledger, and no file."],
      [['--at', vkey], 'ledger.vkey has no checkpoint and no code.'],
      [['--require-anchor', 'soon'], 'It is not a duration like 500ms, 10s or 1h.'],
      [[good, '--vkey', 'a+b+c'], 'a+b+c is no public key of a ledger.'],
      [[good, '--policy', vkey], "ledger.vkey, line 1: '"],
    ];
    for (const [args, words] of calls) {
      const { code, out, err } = await cli.cuff('verify', ...args);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(words);
    }
  });
});

let worlds = 0;

/** A project with the first journal of the world, and its ledger. */
class Project {
  readonly root: string;
  readonly folder: string;
  readonly directory: string;

  constructor(world: World) {
    worlds += 1;
    this.root = join(cli.root, `state-${worlds}`);
    this.folder = join(cli.root, `project-${worlds}`);
    mkdirSync(join(this.folder, '.git'), { recursive: true });
    this.directory = writeWorld(world, this.root, this.folder);
  }

  async verify(...args: readonly string[]): Promise<Result> {
    const env = { CUFF_STATE_ROOT: this.root, HOME: this.root };
    const words = [process.execPath, binary('cuff'), 'verify', ...args];
    const live = cli.start(words, { env, cwd: this.folder });
    live.child.stdin?.end();
    return live.result;
  }
}

describe('cuff verify', () => {
  it('says how far it reaches, and what is newer', async () => {
    const project = new Project(ordinary(1).world);
    const { code, out, err } = await project.verify();
    expect([code, err]).toEqual([0, '']);
    const [first, second] = out.split('\n');
    expect(first).toMatch(
      /^\d+ sealed entries in 3 sessions: as they were sealed, anchored until /,
    );
    expect(first).toMatch(/\(file \/.*\/anchors\.log, \d+\)$/);
    expect(second).toBe(
      '  2 are not anchored: the holder of your account could still rewrite them',
    );
    const json = JSON.parse((await project.verify('--json')).out);
    expect(json).toMatchObject({ intact: true, findings: [], complaints: [] });
    expect(json.anchor).toMatchObject({ kind: 'file', where: join(project.root, 'anchors.log') });
    expect(json.outside).toMatchObject([{ kind: 'file', compared: 1, trouble: null }]);
  });

  it('names what was edited and exits 1, for all, for one session and for one entry', async () => {
    const { world } = ordinary(2);
    const [session] = world.sessions;
    if (session === undefined) throw new Error('a session');
    session.lines[1] = (session.lines[1] ?? '').replace('"exit_code":0', '"exit_code":1');
    const project = new Project(world);
    for (const args of [[], ['--all'], [session.id]]) {
      const { code, out } = await project.verify(...args);
      expect([code, out]).toEqual([1, expect.stringContaining('WRONG, 1 finding:\n  edited: ')]);
      expect(out).toContain(`    session ${session.id}, entry 2, facts, `);
    }
    const other = await project.verify(world.sessions[2]?.id ?? '');
    expect(other.code).toBe(0);
    expect(other.out).toContain(' in 1 session: as they were sealed');
    expect((await project.verify('gone')).err).toContain("'gone'");
  });

  it('compares with a code or a checkpoint that a person kept', async () => {
    const { world } = ordinary(3);
    const tree = world.tree();
    const head = { size: tree.size, root: tree.root() };
    const project = new Project(world);
    const kept = file('kept', world.checkpoint ?? '');
    for (const at of [anchorCode(head), kept, file('code', `${anchorCode(head)}\n`)]) {
      const { code, out } = await project.verify('--at', at);
      expect([code, out]).toEqual([0, expect.not.stringContaining('not anchored')]);
    }
    const wrong = await project.verify('--at', anchorCode({ ...head, size: head.size - 1 }));
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining('history_rewritten: ')]);
  });

  it('requires an anchor of some age, a key and witnesses', async () => {
    const { world } = ordinary(4);
    const project = new Project(world);
    const old = await project.verify('--require-anchor', '1h');
    expect([old.code, old.out]).toEqual([1, expect.stringMatching(/WRONG: the anchor is .* old/)]);
    expect((await project.verify('--require-anchor', '100000d')).code).toBe(0);
    const key = await project.verify('--vkey', formatVerifierKey(OTHER.verifier));
    expect([key.code, key.out]).toEqual([1, expect.stringContaining('checkpoint_bad: ')]);
    const policy = file('policy', `witness W ${formatVerifierKey(WITNESS.verifier)}\nquorum W\n`);
    const unseen = await project.verify('--policy', policy);
    expect([unseen.code, unseen.out]).toEqual([
      1,
      expect.stringContaining('WRONG: fewer witnesses saw the checkpoint than the policy wants'),
    ]);
    const text = (world.checkpoint ?? '').split('\n\n')[0];
    const line = formatSignature(cosign(`${text}\n`, WITNESS, 1_800_000_000));
    writeFileSync(join(project.root, 'seal', 'checkpoint'), `${world.checkpoint}${line}`);
    const seen = await project.verify('--policy', policy);
    expect([seen.code, seen.out]).toEqual([
      0,
      expect.stringContaining('anchored until 2027-01-15 08:00 (witness W, '),
    ]);
    // The checkpoint was signed anew since, and the answer of the witness is kept with its anchor.
    writeFileSync(join(project.root, 'seal', 'checkpoint'), world.checkpoint ?? '');
    const receipt = `${world.checkpoint}${line}`;
    const where = `http://127.0.0.1:9/ ${formatVerifierKey(WITNESS.verifier)}`;
    const { size, root } = JSON.parse(world.anchors[0] ?? '{}');
    const note = { at: '2027-01-15T08:00:00Z', kind: 'witness', size, root, where, receipt };
    writeFileSync(join(project.root, 'seal', 'anchors.jsonl'), `${JSON.stringify(note)}\n`);
    const kept = await project.verify('--policy', policy);
    expect([kept.code, kept.out]).toEqual([
      0,
      expect.stringContaining('anchored until 2027-01-15 08:00 (witness '),
    ]);
    expect(kept.out).toContain('witness http://127.0.0.1:9/ could not be asked: ');
  });

  it('says that a journal is gone, and that nothing is sealed', async () => {
    const project = new Project(ordinary(5).world);
    rmSync(project.directory, { recursive: true });
    const gone = await project.verify('--all');
    expect([gone.code, gone.out]).toEqual([
      1,
      expect.stringContaining(`journal gone (last seen ${project.directory}, `),
    ]);
    rmSync(join(project.root, 'seal'), { recursive: true });
    const none = await project.verify();
    expect([none.code, none.out]).toEqual([1, 'No sealed entries here: nothing is proven.\n']);
  });
});
