// Questions and grants: for one user, for one execution, and not for long.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Approvals, type Asker, type Subject } from '../../src/policies/approvals.ts';
import { thisProcess } from '../../src/run/processes.ts';

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
    return this.approvals.ask(subject, { ...ABOUT, command: subject.command }, ASKED) ?? '';
  }

  grant(id: string): void {
    const question = this.approvals.find(id);
    if (question === undefined) throw new Error(`no question ${id}`);
    this.approvals.grant(question);
  }
}

const ASKED: Asker = { policy: 'p1', agent: 'claude' };
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
    const id =
      place.approvals.ask(subject, { ...ABOUT, command: 'login [REDACTED:X]' }, ASKED) ?? '';
    expect(place.approvals.find(id)?.exact).toBe(false);
    const text = fs.readFileSync(join(place.directory, `${id}.ask.json`), 'utf8');
    expect(text).not.toContain('hunter22');
    place.grant(id);
    expect(place.approvals.take(subject, ASKED)).toBe(true);
  });

  it('is none behind a link, or where others may write', () => {
    const [place, other] = [new Place(), new Place()];
    const id = place.ask();
    place.grant(place.ask({ ...SUBJECT, command: 'make y' }));
    fs.symlinkSync(place.directory, other.directory);
    expect(other.approvals.pending()).toEqual([]);
    expect(other.approvals.find(id)).toBeUndefined();
    expect(other.approvals.take({ ...SUBJECT, command: 'make y' }, ASKED)).toBe(false);
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
    expect(place.approvals.take({ ...SUBJECT, command: 'make x ' }, ASKED)).toBe(false);
    expect(place.approvals.take({ ...SUBJECT, cwd: '/p/q' }, ASKED)).toBe(false);
    expect(place.approvals.take({ ...SUBJECT, project: '/' }, ASKED)).toBe(false);
    expect(place.approvals.take({ ...SUBJECT, beside: ['env A=1'] }, ASKED)).toBe(false);
    expect(place.approvals.granted(SUBJECT, ASKED)).toBe(true);
    expect(place.approvals.take(SUBJECT, ASKED)).toBe(true);
    expect(place.approvals.granted(SUBJECT, ASKED)).toBe(false);
    expect(place.approvals.take(SUBJECT, ASKED)).toBe(false);
    expect(fs.readdirSync(place.directory)).toEqual([]);
  });

  it('is for the agent that asked, under the policy that asked', () => {
    const place = new Place();
    place.grant(place.ask());
    const others: Asker[] = [
      { ...ASKED, agent: 'codex' },
      { policy: 'p1' },
      { ...ASKED, policy: 'p2' },
      { agent: 'claude' },
      {},
    ];
    for (const other of others) {
      expect([
        place.approvals.granted(SUBJECT, other),
        place.approvals.take(SUBJECT, other),
      ]).toEqual([false, false]);
    }
    // By the name that it has as a client, and in another conversation.
    const same: Asker = { policy: 'p1', agent: 'claude-code', conversation: 'conversation:b' };
    expect(place.approvals.take(SUBJECT, same)).toBe(true);
    const unproven = place.approvals.ask(SUBJECT, ABOUT, { policy: 'p1' }) ?? '';
    place.grant(unproven);
    expect(place.approvals.take(SUBJECT, ASKED)).toBe(false);
    expect(place.approvals.take(SUBJECT, { policy: 'p1' })).toBe(true);
  });

  it('is taken by one of many servers', () => {
    const place = new Place();
    place.grant(place.ask());
    const servers = Array.from({ length: 20 }, () => new Approvals(place.root, () => place.time));
    expect(servers.filter((server) => server.take(SUBJECT, ASKED))).toHaveLength(1);
  });

  it('is good for a day', () => {
    const place = new Place();
    place.grant(place.ask());
    place.time += DAY_MS;
    expect(place.approvals.take(SUBJECT, ASKED)).toBe(false);
  });

  it('that others could have written, or that is a link, is none', () => {
    const place = new Place();
    const id = place.ask();
    place.grant(id);
    const file = join(place.directory, `${id}.grant.json`);
    const text = fs.readFileSync(file);
    fs.chmodSync(file, 0o666);
    expect(place.approvals.take(SUBJECT, ASKED)).toBe(false);
    const elsewhere = join(place.root, 'elsewhere.json');
    fs.writeFileSync(elsewhere, text, { mode: 0o600 });
    fs.symlinkSync(elsewhere, file);
    expect(place.approvals.take(SUBJECT, ASKED)).toBe(false);
    fs.rmSync(file, { force: true });
    fs.writeFileSync(file, text, { mode: 0o600 });
    expect(place.approvals.take(SUBJECT, ASKED)).toBe(true);
  });
});

describe('an answer for a while', () => {
  const HOUR_MS = 3_600_000;
  const ASKER = { conversation: 'conversation:a', policy: 'p1', agent: 'claude' };

  class Clocks extends Place {
    up = 50_000;
    readonly timed = new Approvals(
      this.root,
      () => this.time,
      () => this.up,
    );

    pass(ms: number): void {
      this.time += ms;
      this.up += ms;
    }

    lasting(span: 'hour' | 'conversation', asker: Asker = ASKER): string {
      this.timed.grantNow(SUBJECT, ABOUT, asker, span);
      return this.timed.grants().find((one) => one.span === span)?.id ?? '';
    }
  }

  it('holds for an hour, in every conversation, for this and nothing else', () => {
    const place = new Clocks();
    place.lasting('hour');
    const other = { ...ASKER, conversation: 'conversation:b' };
    expect([ASKER, other].map((one) => place.timed.lasts(SUBJECT, one))).toEqual([true, true]);
    expect(place.timed.lasts({ ...SUBJECT, command: 'make x ' }, ASKER)).toBe(false);
    expect(place.timed.lasts({ ...SUBJECT, cwd: '/p/q' }, ASKER)).toBe(false);
    expect(place.timed.lasts({ ...SUBJECT, beside: ['env A=1'] }, ASKER)).toBe(false);
    expect(place.timed.lasts(SUBJECT, { ...ASKER, policy: 'p2' })).toBe(false);
    expect(place.timed.lasts(SUBJECT, { conversation: ASKER.conversation })).toBe(false);
    expect(place.timed.lasts(SUBJECT, { ...ASKER, agent: 'codex' })).toBe(false);
    expect(place.timed.lasts(SUBJECT, { ...ASKER, agent: undefined })).toBe(false);
    expect(place.timed.take(SUBJECT, ASKER)).toBe(false);
    place.pass(HOUR_MS - 1);
    expect(place.timed.lasts(SUBJECT, ASKER)).toBe(true);
    place.pass(1);
    expect(place.timed.lasts(SUBJECT, ASKER)).toBe(false);
    expect(fs.readdirSync(place.directory)).toEqual([]);
  });

  it.each([
    ['set back', -1, 0],
    ['set back by less than has passed', -HOUR_MS, HOUR_MS + 1],
    ['set forward', HOUR_MS, 0],
    ['that of another start of the machine', 0, -1],
  ])('is over when the clock is %s', (_, time, up) => {
    const place = new Clocks();
    place.lasting('hour');
    place.time += time + Math.max(up, 0);
    place.up += up;
    expect(place.timed.lasts(SUBJECT, ASKER)).toBe(false);
  });

  it('holds for its conversation alone, and ends with it', () => {
    const place = new Clocks();
    place.lasting('conversation');
    place.pass(2 * HOUR_MS);
    expect(place.timed.lasts(SUBJECT, ASKER)).toBe(true);
    expect(place.timed.lasts(SUBJECT, { ...ASKER, conversation: 'conversation:b' })).toBe(false);
    expect(place.timed.lasts(SUBJECT, { ...ASKER, agent: 'codex' })).toBe(false);
    expect(place.timed.lasts(SUBJECT, { policy: 'p1', agent: 'claude' })).toBe(false);
    place.timed.endConversation('conversation:b');
    expect(place.timed.lasts(SUBJECT, ASKER)).toBe(true);
    place.timed.endConversation('conversation:a');
    expect(place.timed.lasts(SUBJECT, ASKER)).toBe(false);
  });

  it('for a connection ends with the process that had it', () => {
    const place = new Clocks();
    const server = thisProcess();
    const asker = { conversation: 'connection:x', policy: 'p1', server };
    place.lasting('conversation', asker);
    expect(place.timed.lasts(SUBJECT, asker)).toBe(true);
    place.timed.revoke(place.timed.grants()[0]?.id ?? '');
    // Another process has its number now.
    place.lasting('conversation', { ...asker, server: { ...server, startTime: 1 } });
    expect(place.timed.lasts(SUBJECT, asker)).toBe(false);
    expect(place.timed.grants()).toEqual([]);
  });

  it('is listed, and is over when it is revoked', () => {
    const place = new Clocks();
    const [hour, conversation] = [place.lasting('hour'), place.lasting('conversation')];
    place.grant(place.ask());
    expect(
      place.timed
        .grants()
        .map(({ span }) => span)
        .sort(),
    ).toEqual([...['conversation', 'hour', 'once']]);
    expect(place.timed.revoke(hour)).toBe(true);
    expect(place.timed.revoke(hour)).toBe(false);
    expect(place.timed.revoke('../../x')).toBe(false);
    expect(place.timed.lasts(SUBJECT, { policy: 'p1', agent: 'claude' })).toBe(false);
    expect(place.timed.grants()).toHaveLength(2);
    expect(place.timed.revoke(conversation)).toBe(true);
  });

  it('is asked for once in each conversation, and under each policy', () => {
    const place = new Clocks();
    const ask = (asker: Asker) => place.timed.ask(SUBJECT, ABOUT, asker);
    const first = ask(ASKER);
    expect(ask(ASKER)).toBe(first);
    const others = [ask({ ...ASKER, policy: 'p2' }), ask({ ...ASKER, conversation: 'c' }), ask({})];
    others.push(ask({ ...ASKER, agent: 'codex' }));
    expect(new Set([first, ...others]).size).toBe(5);
    expect(place.timed.find(first ?? '')).toMatchObject(ASKER);
  });
});
