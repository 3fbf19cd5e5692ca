// Anchors in files and on paper: what they prove when the ledger and its notes are rewritten.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failedAnchors, hasNewsFor } from '../../../src/sealing/anchors/record.ts';
import { readTarget } from '../../../src/sealing/anchors/target.ts';
import { wantedAnchors } from '../../../src/sealing/anchors/wanted.ts';
import { anchorOfCode, trailerOf } from '../../../src/sealing/verify/anchors.ts';
import { verificationWords } from '../../../src/sealing/verify/words.ts';
import { AnchorWorld, troubles, verdicts } from './world.ts';

describe('a target', () => {
  it('is a kind and where', () => {
    const good = [
      'journal',
      'print',
      'trailer',
      'file /var/log/a b',
      'git /srv/e.git',
      'git me@host.example:e.git',
      'git https://host.example/e.git',
    ];
    for (const text of good) {
      const [kind = '', ...where] = text.split(' ');
      expect(readTarget(text)).toEqual({ target: { kind, where: where.join(' ') } });
    }
    const bad = [
      '',
      'paper',
      'journal x',
      'file',
      'file a/b',
      'file /a\nb',
      'git',
      'git e.git',
      'git --upload-pack=x',
      'git ext::sh -c x',
      'git https://-o/x',
      'git https://me:secret@host.example/e.git',
      'git me@host.example:-x',
      'witness https://w.example',
      'witness https://w.example a+b+c',
    ];
    for (const text of bad) {
      expect([text, readTarget(text)]).toEqual([text, { problem: expect.any(String) }]);
    }
  });
});

describe('seal.anchor', () => {
  it("counts in the user's settings alone, and a project's gets a notice", async () => {
    const world = new AnchorWorld();
    const wanted = () => wantedAnchors(world.tools());
    expect(await wanted()).toEqual({ targets: [], notices: [] });
    const theirs = join(world.project, 'settings.yml');
    fs.writeFileSync(theirs, 'seal:\n  anchor: [git /tmp/evil]\n');
    const notice = `seal.anchor in ${theirs} is ignored: only your own settings name anchors.`;
    expect(await wanted()).toEqual({ targets: [], notices: [notice] });
    world.settings('seal:\n  anchor:\n    - file /a\n    - paper\n    - 7\n');
    expect(await wanted()).toEqual({
      targets: [{ kind: 'file', where: '/a' }],
      notices: [notice, expect.stringContaining("'paper': expected one of "), expect.any(String)],
    });
    world.settings('seal: {anchor: []}\n');
    expect((await wanted()).targets).toEqual([]);
    world.settings('seal: {anchor: [');
    expect((await wanted()).targets).toEqual([]);
  });
});

describe('an anchor in a file', () => {
  it('is a line there, a note and a leaf', async () => {
    const world = new AnchorWorld();
    const { origin, size, root } = await world.grow();
    const path = join(world.seal.dir, 'outside.log');
    expect(troubles(await world.anchor(`file ${path}`))).toEqual([undefined]);
    const coded = Buffer.from(root).toString('base64');
    expect(fs.readFileSync(path, 'utf8')).toBe(
      `2026-01-18T14:30:52.123Z ${origin} ${size} ${coded}\n`,
    );
    expect(world.notes).toMatchObject([{ kind: 'file', size, where: path, receipt: null }]);
    expect(world.seal.leaves('anchor')).toEqual([
      { kind: 'anchor', anchor: 'file', size, where: path },
    ]);
    const found = await world.verify();
    expect(found.ledger.anchor).toMatchObject({ kind: 'file', size, source: 'place' });
    expect(verdicts(found)).toEqual([]);
  });

  it('shows that history was rewritten, also where the notes were rewritten with it', async () => {
    const world = new AnchorWorld();
    await world.grow();
    const path = join(world.seal.dir, 'outside.log');
    await world.anchor(`file ${path}`);
    await world.anchor(`file ${path}`);
    world.rewrite();
    expect((await world.ledger.sign())?.kind).toBe('signed');
    for (const notes of ['there', 'gone'] as const) {
      if (notes === 'gone') fs.rmSync(world.seal.path('anchors.jsonl'));
      expect([notes, verdicts(await world.verify())]).toEqual([
        notes,
        ['history_rewritten', 'history_rewritten'],
      ]);
    }
    fs.rmSync(path);
    // Without the copy elsewhere the rewritten ledger fits itself.
    expect(verdicts(await world.verify())).toEqual([]);
  });

  it('counts only while it is there, and the words say which were compared', async () => {
    const world = new AnchorWorld();
    await world.grow();
    const path = join(world.seal.dir, 'outside.log');
    await world.anchor(`file ${path}`);
    await world.anchor('print');
    const words = async () => verificationWords(await world.verify(), world.seal.time).join('\n');
    expect(await words()).toContain(`  compared with what is there: file ${path}\n`);
    expect(await words()).toContain("(print) by the ledger's own notes alone: bring ");
    fs.writeFileSync(path, 'not a line of ours\n');
    expect(await words()).toContain(`1 anchor noted for file ${path}, and not there: not counted`);
    fs.rmSync(path);
    const gone = await world.verify();
    expect(gone.ledger.anchor).toBeUndefined();
    expect(gone.ledger.noted).toMatchObject({ kind: 'print' });
    expect(await words()).toContain(`  file ${path} could not be read: ENOENT\n`);
  });

  it('that cannot be written is noted, until it works again', async () => {
    const world = new AnchorWorld();
    await world.grow();
    const path = join(world.seal.dir, 'later', 'outside.log');
    const why = 'it cannot be written: ENOENT';
    expect(troubles(await world.anchor(`file ${path}`))).toEqual([why]);
    expect(failedAnchors(world.seal.root)).toEqual([
      { at: world.seal.time, kind: 'file', where: path, why },
    ]);
    expect(world.seal.leaves('anchor')).toEqual([]);
    fs.mkdirSync(join(world.seal.dir, 'later'));
    await world.anchor(`file ${path}`);
    expect(failedAnchors(world.seal.root)).toEqual([]);
  });
});

describe('what a person keeps', () => {
  it('is a code in groups of four, or the trailer of a commit', async () => {
    const world = new AnchorWorld();
    const head = await world.grow();
    await world.anchor('print');
    const [{ receipt } = { receipt: '' }] = world.notes;
    expect(receipt).toMatch(/^CUFF 4 [A-Z2-7]{4}(-[A-Z2-7]{4}){4}$/);
    for (const text of [receipt ?? '', trailerOf(head), `Cuff-Seal: ${trailerOf(head)}`]) {
      const anchor = anchorOfCode(text);
      expect([anchor?.size, anchor?.holds(head.root)]).toEqual([4, true]);
      expect(anchor?.holds(Buffer.alloc(32))).toBe(false);
    }
    expect(anchorOfCode(`4:${Buffer.alloc(31).toString('base64')}`)).toBeUndefined();
  });
});

it('leaves of anchors alone are nothing new', async () => {
  const world = new AnchorWorld();
  const print = { kind: 'print', where: '' } as const;
  const fresh = (size: number): boolean => hasNewsFor(print, world.seal.root, size);
  const { size } = await world.grow();
  expect(fresh(size)).toBe(true);
  for (let n = 1; n <= 3; n += 1) {
    await world.anchor('print');
    expect([n, fresh(size + n)]).toEqual([n, false]);
  }
  // Another place has none of it yet.
  const other = { kind: 'file', where: '/a' } as const;
  expect(hasNewsFor(other, world.seal.root, size + 3)).toBe(true);
  await world.grow(1);
  expect(fresh(size + 4)).toBe(true);
});
