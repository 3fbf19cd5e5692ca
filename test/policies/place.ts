// A project and what is around it in a directory of its own, for tests of its policy.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

export class PolicyPlace {
  readonly dir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-policy-')));
  readonly project = join(this.dir, 'project');
  /** The project's policy. */
  readonly own = join(this.project, '.cuff', 'policy.yml');

  constructor() {
    fs.mkdirSync(this.project);
    onTestFinished(() => fs.rmSync(this.dir, { recursive: true, force: true }));
  }

  /** As a whole, as editors do. */
  write(file: string, text: string): void {
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(`${file}.new`, text);
    fs.renameSync(`${file}.new`, file);
  }
}
