// Where a path leads, as the policy sees it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PolicyEngine } from '../../src/policies/engine.ts';
import * as files from '../../src/policies/files.ts';
import { realPath } from '../../src/policies/real-path.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-real-path-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (...names: readonly string[]): string => join(root, ...names);

describe('the real path', () => {
  it('of a file that is not there is resolved as far as it is, dangling links included', () => {
    mkdirSync(at('away'));
    mkdirSync(at('project'));
    symlinkSync('../away', at('project', 'link'));
    symlinkSync('../away/new', at('project', 'dangling'));
    symlinkSync('dangling', at('project', 'twice'));
    symlinkSync('round', at('project', 'round'));
    expect(realPath(at('project', 'new'))).toBe(at('project', 'new'));
    expect(realPath(at('project', 'link', 'a', 'b'))).toBe(at('away', 'a', 'b'));
    expect(realPath(at('project', 'dangling'))).toBe(at('away', 'new'));
    expect(realPath(at('project', 'twice', 'x'))).toBe(at('away', 'new', 'x'));
    expect(realPath(at('project', 'round'))).toBe(at('project', 'round'));
    expect(realPath('/')).toBe('/');
  });

  it('of a dangling link decides whether a redirection may write it', () => {
    const project = at('judged');
    mkdirSync(join(project, '.cuff'), { recursive: true });
    symlinkSync(at('home', '.bashrc'), join(project, 'dangling'));
    const text = 'mode: enforce\ndefault: allow\n';
    writeFileSync(join(project, '.cuff', 'policy.yml'), text);
    const where = { project, env: { HOME: at('home') }, stateRoot: at('state') };
    const engine = PolicyEngine.open({ ...where, trusted: true, watch: false }, files);
    const verdict = (command: string) => engine.decide(command, project)?.decision.verdict;
    expect([verdict('echo > plain'), verdict('echo > dangling')]).toEqual(['allow', 'deny']);
  });
});
