// A ledger with anchors, in a temporary directory.
import * as fs from 'node:fs';
import { join } from 'node:path';
import {
  type AnchorResult,
  anchorHead,
  signedHead,
} from '../../../src/sealing/anchors/anchoring.ts';
import { readOutside } from '../../../src/sealing/anchors/outside.ts';
import type { AnchorTools, SignedHead } from '../../../src/sealing/anchors/place.ts';
import { readTarget } from '../../../src/sealing/anchors/target.ts';
import type { Ledger } from '../../../src/sealing/ledger.ts';
import { gatherEvidence } from '../../../src/sealing/verify/gather.ts';
import { type Verification, verifyEvidence } from '../../../src/sealing/verify/verify.ts';
import { openStore } from '../../../src/shell/store.ts';
import { FACT_MS_MAX } from '../../pace.ts';
import { SealWorld } from '../helper.ts';

export class AnchorWorld {
  readonly seal = new SealWorld();
  readonly ledger: Ledger = this.seal.ledger();
  readonly home = join(this.seal.dir, 'home');
  readonly project = join(this.seal.dir, 'project');
  #runs = 0;

  constructor() {
    for (const path of [join(this.home, '.config', 'cuff'), this.project]) {
      fs.mkdirSync(path, { recursive: true });
    }
  }

  get env(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.home };
  }

  tools(more: Partial<AnchorTools> = {}): AnchorTools {
    const { root: stateRoot } = this.seal;
    const signal = AbortSignal.timeout(FACT_MS_MAX);
    const { env, project } = this;
    const now = (): number => this.seal.time;
    return { stateRoot, project, env, now, signal, syslog: [], ...more };
  }

  settings(text: string): void {
    fs.writeFileSync(join(this.home, '.config', 'cuff', 'settings.yml'), text);
  }

  /** Some more leaves, signed. */
  async grow(count = 3): Promise<SignedHead> {
    if (this.ledger.origin === undefined) throw new Error('the ledger has no key');
    for (let n = 0; n < count; n += 1) {
      this.#runs += 1;
      this.ledger.note({ kind: 'pin', run: `run-${this.#runs}`, at: this.seal.time });
    }
    await this.ledger.sign();
    const head = signedHead(this.seal.root);
    if (head === undefined) throw new Error('the ledger was not signed');
    return head;
  }

  /** The last root, there. */
  async anchor(text: string, more: Partial<AnchorTools> = {}): Promise<readonly AnchorResult[]> {
    const reading = readTarget(text);
    if ('problem' in reading) throw new Error(reading.problem);
    const head = signedHead(this.seal.root);
    if (head === undefined) throw new Error('nothing is signed');
    const results = await anchorHead(this.ledger, head, [reading.target], this.tools(more));
    await this.ledger.sign();
    return results;
  }

  async verify(more: Partial<AnchorTools> = {}): Promise<Verification> {
    const outside = await readOutside(this.ledger.origin ?? '', this.tools(more));
    const store = openStore(this.seal.root);
    return verifyEvidence(gatherEvidence({ store, directories: [], outside }));
  }

  /** What stands in `anchors.jsonl`. */
  get notes(): readonly { kind: string; size: number; where: string; receipt: string | null }[] {
    const text = this.seal.bytes('anchors.jsonl').toString();
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  /** As if the ledger had never been: what a stolen key can do. */
  rewrite(): void {
    fs.rmSync(join(this.seal.root, 'seal', 'checkpoint'));
    const lines = this.seal.lines.filter((line) => !line.includes(' run-1 '));
    fs.writeFileSync(this.seal.path('leaves'), lines.join(''));
    for (const name of ['hashes', 'position']) fs.rmSync(this.seal.path(name));
  }
}

export function troubles(results: readonly AnchorResult[]): (string | undefined)[] {
  return results.map(({ trouble }) => trouble);
}

export function verdicts({ findings }: Verification): string[] {
  return findings.map(({ verdict }) => verdict);
}
