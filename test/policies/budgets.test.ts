// How often a rule allows something in an hour: counted for all processes of a project, by a clock
// that cannot be set, and never past the limit.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Budgets, budgetUses } from '../../src/policies/budgets.ts';
import { judge } from '../../src/policy/decide.ts';
import { exportPolicy } from '../../src/policy/export/index.ts';
import { readPolicy } from '../../src/policy/load.ts';
import { unsaved } from '../../src/policy/policy.ts';
import { HOME, PROJECT, policyOf } from '../policy/helper.ts';

const HOUR_MS = 3_600_000;
const RULES = '[{pattern: npm publish, max_per_hour: 2}, {pattern: ls}]';

class Place {
  readonly root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-budgets-')));
  readonly policies = [unsaved(policyOf(`policies: [{name: out, commands: ${RULES}}]`))];
  time = 1_000_000_000;
  up = 5_000_000;

  constructor() {
    onTestFinished(() => fs.rmSync(this.root, { recursive: true, force: true }));
  }

  /** Another process of a project. */
  budgets(project = PROJECT): Budgets {
    return new Budgets(
      this.root,
      project,
      () => this.time,
      () => this.up,
    );
  }

  decide(command: string) {
    return judge({ policies: this.policies, project: PROJECT, home: HOME }).decide(
      command,
      PROJECT,
    );
  }

  said(command: string, budgets = this.budgets()): string {
    const { verdict, code } = budgets.within(this.decide(command), this.policies);
    return `${verdict} ${code}`;
  }

  run(command: string, budgets = this.budgets()): boolean {
    return budgets.spend(budgetUses(this.decide(command)));
  }

  get files(): readonly string[] {
    const all = join(this.root, 'budgets');
    return fs.readdirSync(all).flatMap((name) => fs.readdirSync(join(all, name)));
  }
}

describe('a budget', () => {
  it('is for all processes of a project, and ends an hour after each use', () => {
    const place = new Place();
    expect([place.said('npm publish'), place.run('npm publish')]).toEqual([
      'allow rule.allow',
      true,
    ]);
    place.time += HOUR_MS / 2;
    place.up += HOUR_MS / 2;
    expect(place.run('npm publish')).toBe(true);
    expect(place.said('npm publish')).toBe('ask budget');
    expect(place.said('npm publish', place.budgets('/other'))).toBe('allow rule.allow');
    expect(place.run('npm publish')).toBe(false);
    place.time += HOUR_MS / 2;
    place.up += HOUR_MS / 2;
    expect(place.said('npm publish')).toBe('allow rule.allow');
    expect([place.run('npm publish'), place.run('npm publish')]).toEqual([true, false]);
    expect(place.files).toHaveLength(2);
  });

  it('counts every part of a command, and nothing of what cannot run', () => {
    const place = new Place();
    expect(place.said('npm publish; npm publish')).toBe('allow rule.allow');
    expect(place.said('npm publish; npm publish; npm publish')).toBe('ask budget');
    expect(place.run('npm publish; npm publish; npm publish')).toBe(false);
    expect(place.files).toEqual([]);
    expect(place.run('npm publish && npm publish')).toBe(true);
    expect(place.said('npm publish')).toBe('ask budget');
  });

  it.each([
    ['back', -10 * HOUR_MS],
    ['forward', 10 * HOUR_MS],
  ])('is not given back by a clock that is set %s', (_, ms) => {
    const place = new Place();
    expect(place.run('npm publish; npm publish')).toBe(true);
    place.time += ms;
    expect(place.said('npm publish')).toBe('ask budget');
  });

  it('is counted by the other clock when the machine was started anew', () => {
    const place = new Place();
    expect(place.run('npm publish; npm publish')).toBe(true);
    place.up = 1_000;
    expect(place.said('npm publish')).toBe('ask budget');
    place.time += HOUR_MS;
    expect(place.said('npm publish')).toBe('allow rule.allow');
  });

  it('is used up by a process that is killed behind its count', () => {
    const place = new Place();
    place.run('npm publish');
    const [directory = ''] = fs.readdirSync(join(place.root, 'budgets'));
    fs.writeFileSync(join(place.root, 'budgets', directory, `${place.time}-${place.up}-1x`), '');
    expect(place.said('npm publish')).toBe('ask budget');
  });

  it('that cannot be counted allows nothing', () => {
    const place = new Place();
    place.run('npm publish');
    const [directory = ''] = fs.readdirSync(join(place.root, 'budgets'));
    fs.chmodSync(join(place.root, 'budgets', directory), 0o777);
    expect(place.said('npm publish')).toBe('ask budget');
    const other = new Place();
    fs.writeFileSync(join(other.root, 'budgets'), 'no directory');
    expect(other.run('npm publish')).toBe(false);
  });

  it('costs nothing where no rule has one', () => {
    const place = new Place();
    expect(budgetUses(place.decide('ls'))).toEqual([]);
    expect(place.run('ls')).toBe(true);
    expect(fs.existsSync(join(place.root, 'budgets'))).toBe(false);
  });

  it('is denied where the default denies, and says which rule it is', () => {
    const place = new Place();
    const denying = [...place.policies, unsaved(policyOf('default: deny'))];
    place.run('npm publish; npm publish');
    const over = place.budgets().within(place.decide('npm publish'), denying);
    expect(over).toMatchObject({ verdict: 'deny', code: 'budget' });
    expect(over.reasons[0]?.message).toBe(
      'The rule `npm publish` of out allows 2 an hour, which is used up.',
    );
  });
});

describe('the key', () => {
  it.each([
    ['max_per_hour: 0', 'must be from 1 to 1000'],
    ['max_per_hour: 1001', 'must be from 1 to 1000'],
    ['max_per_hour: many', 'must be a whole number'],
    ['max_per_hour: 2.5', 'must be a whole number'],
    ['max_per_hour: 2, decision: deny', 'is for a rule that allows'],
  ])('is checked: %s', (key, words) => {
    const text = `policies:\n  - name: x\n    commands:\n      - {pattern: ls, ${key}}\n`;
    const read = readPolicy(text, { home: HOME });
    if ('policy' in read) throw new Error('it was read');
    expect(read.problems).toMatchObject([
      { line: 4, column: 37, message: expect.stringContaining(words) },
    ]);
  });

  it('is lost in other tools, so the rule is left out', () => {
    const policy = policyOf(`policies: [{name: out, commands: ${RULES}}]`);
    const { text, losses } = exportPolicy(policy, 'claude', { loose: false });
    expect(text).not.toContain('publish');
    expect(losses).toContainEqual(
      expect.objectContaining({ kind: 'budget', leftOut: true, items: ['npm publish'] }),
    );
  });
});
