// Questions and grants: for one user, for one execution, and not for long.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Approvals, type Subject } from '../../src/policies/approvals.ts';

const DAY_MS = 86_400_000;
const ABOUT = { command: 'make x', beside: [], code: 'default.ask', reasons: ['No rule.'] };

class Place {
  readonly root = fs.mkdtempSync(join(tmpdir(), 'cuff-approvals-'));
  readonly directory = join(this.root, 'approvals');
  time = 1_000_000;
  readonly approvals = new Approvals(this.root, () => this.time);

  constructor() {
    onTestFinished(() => fs.rmSync(this.root, { recursive: true, force: true }));
  }

  ask(subject: Subject = SUBJECT): string {
    return this.approvals.ask(subject, { ...ABOUT, command: subject.command }) ?? '';
  }

  grant(id: string): void {
    const question = this.approvals.find(id);
    if (question === undefined) throw new Error(`no question ${id}`);
    this.approvals.grant(question);
  }
}

const SUBJECT: Subject = { project: '/p', cwd: '/p', command: 'make x', beside: [] };

describe('a question', () => {
  it('has a short id that stays the same, in a file for the user alone', () => {
    const place = new Place();
    const id = place.ask();
    expect(id).toMatch(/^[a-z2-7]{8}$/);
    expect(place.ask()).toBe(id);
    expect(place.ask({ ...SUBJECT, cwd: '/p/q' })).not.toBe(id);
    expect(fs.statSync(place.directory).mode & 0o777).toBe(0o700);
    const file = join(place.directory, `${id}.ask.json`);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(place.approvals.find(id)).toMatchObject({ ...ABOUT, exact: true, cwd: '/p' });
    expect(place.approvals.find('../../x')).toBeUndefined();
  });

  it('is gone after a day, and the oldest goes when there are too many', () => {
    const place = new Place();
    const first = place.ask();
    place.time += DAY_MS - 1;
    expect(place.approvals.pending()).toHaveLength(1);
    place.time += 1;
    expect(place.approvals.pending()).toEqual([]);
    expect(fs.readdirSync(place.directory)).toEqual([]);
    const ids = Array.from({ length: 205 }, (_, i) => {
      place.time += 1;
      return place.ask({ ...SUBJECT, command: `make ${i}` });
    });
    expect(place.approvals.pending().map(({ id }) => id)).toEqual(ids.slice(5));
    expect(place.approvals.find(first)).toBeUndefined();
  });

  it('keeps no secret: what was taken out of it cannot become a rule', () => {
    const place = new Place();
    const subject = { ...SUBJECT, command: 'login hunter22' };
    const id = place.approvals.ask(subject, { ...ABOUT, command: 'login [REDACTED:X]' }) ?? '';
    expect(place.approvals.find(id)?.exact).toBe(false);
    const text = fs.readFileSync(join(place.directory, `${id}.ask.json`), 'utf8');
    expect(text).not.toContain('hunter22');
    place.grant(id);
    expect(place.approvals.take(subject)).toBe(true);
  });

  it('is none behind a link, or where others may write', () => {
    const [place, other] = [new Place(), new Place()];
    const id = place.ask();
    place.grant(place.ask({ ...SUBJECT, command: 'make y' }));
    fs.symlinkSync(place.directory, other.directory);
    expect(other.approvals.pending()).toEqual([]);
    expect(other.approvals.find(id)).toBeUndefined();
    expect(other.approvals.take({ ...SUBJECT, command: 'make y' })).toBe(false);
    expect(other.ask({ ...SUBJECT, command: 'make z' })).toBe('');
    fs.chmodSync(place.directory, 0o777);
    expect(place.approvals.find(id)).toBeUndefined();
    fs.chmodSync(place.directory, 0o700);
    expect(place.approvals.pending().map((one) => one.id)).toEqual([id]);
  });

  it('that is too long is not kept', () => {
    const place = new Place();
    expect(place.ask({ ...SUBJECT, command: 'x'.repeat(300_000) })).toBe('');
    expect(place.approvals.pending()).toEqual([]);
  });
});

describe('a grant', () => {
  it('is for exactly what was asked, once', () => {
    const place = new Place();
    place.grant(place.ask());
    expect(place.approvals.pending()).toEqual([]);
    expect(place.approvals.take({ ...SUBJECT, command: 'make x ' })).toBe(false);
    expect(place.approvals.take({ ...SUBJECT, cwd: '/p/q' })).toBe(false);
    expect(place.approvals.take({ ...SUBJECT, project: '/' })).toBe(false);
    expect(place.approvals.take({ ...SUBJECT, beside: ['env A=1'] })).toBe(false);
    expect(place.approvals.granted(SUBJECT)).toBe(true);
    expect(place.approvals.take(SUBJECT)).toBe(true);
    expect(place.approvals.granted(SUBJECT)).toBe(false);
    expect(place.approvals.take(SUBJECT)).toBe(false);
    expect(fs.readdirSync(place.directory)).toEqual([]);
  });

  it('is taken by one of many servers', () => {
    const place = new Place();
    place.grant(place.ask());
    const servers = Array.from({ length: 20 }, () => new Approvals(place.root, () => place.time));
    expect(servers.filter((server) => server.take(SUBJECT))).toHaveLength(1);
  });

  it('is good for a day', () => {
    const place = new Place();
    place.grant(place.ask());
    place.time += DAY_MS;
    expect(place.approvals.take(SUBJECT)).toBe(false);
  });

  it('that others could have written, or that is a link, is none', () => {
    const place = new Place();
    const id = place.ask();
    place.grant(id);
    const file = join(place.directory, `${id}.grant.json`);
    const text = fs.readFileSync(file);
    fs.chmodSync(file, 0o666);
    expect(place.approvals.take(SUBJECT)).toBe(false);
    const elsewhere = join(place.root, 'elsewhere.json');
    fs.writeFileSync(elsewhere, text, { mode: 0o600 });
    fs.symlinkSync(elsewhere, file);
    expect(place.approvals.take(SUBJECT)).toBe(false);
    fs.rmSync(file, { force: true });
    fs.writeFileSync(file, text, { mode: 0o600 });
    expect(place.approvals.take(SUBJECT)).toBe(true);
  });
});
