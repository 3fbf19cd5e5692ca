// A sealed session and sealed captures to redact, and what a verification says of them.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { encodeFinal } from '../../../src/capture/format.ts';
import type { Decrypt } from '../../../src/capture/open-source.ts';
import { createCapture, type Store } from '../../../src/capture/store.ts';
import { appendLater } from '../../../src/journal/later.ts';
import { startSession } from '../../../src/journal/writer.ts';
import { sealCaptures } from '../../../src/sealing/captures.ts';
import type { Ledger } from '../../../src/sealing/ledger.ts';
import type { RedactContext } from '../../../src/sealing/redact/said.ts';
import { gatherEvidence } from '../../../src/sealing/verify/gather.ts';
import { verifyEvidence } from '../../../src/sealing/verify/verify.ts';
import { verificationWords } from '../../../src/sealing/verify/words.ts';
import { newMeta } from '../../../src/shell/new-run.ts';
import { openStore } from '../../../src/shell/store.ts';
import type { CaptureFinal, EntryDraft } from '../../../src/types.ts';
import { draftOf, FACTS } from '../../journal/helper.ts';
import { ME, SealWorld } from '../helper.ts';

const FINAL: CaptureFinal = {
  at: Date.parse('2026-01-18T14:30:53.000Z'),
  endedBy: 'itself',
  lostBytes: 0,
  outcome: { kind: 'exited', code: 0 },
  outputBytes: 0,
  outputClosed: true,
  state: 'exited',
  survivors: [],
};

export class RedactWorld extends SealWorld {
  /** Of the identities that are at hand. */
  decrypt: Decrypt | undefined;

  get store(): Store {
    const store = { ...openStore(this.root), alive: this.alive, now: () => this.time };
    return { ...store, ...(this.decrypt && { decrypt: this.decrypt }) };
  }

  context(ledger: Ledger | undefined, more: Partial<RedactContext> = {}): RedactContext {
    const about = { store: this.store, owner: ME, recipients: () => [] };
    return { ledger, why: 'customer data', ...about, ...more };
  }

  /** A closed session with these entries; of the first one, output that came later. */
  async sessionOf(
    ledger: Ledger | undefined,
    drafts: readonly Partial<EntryDraft>[],
    later?: { readonly stdout: string; readonly stderr: string },
  ): Promise<string> {
    const env = this.env(ledger);
    const writer = startSession(this.journal, FACTS, env);
    for (const draft of drafts) {
      const { entry_id } = await writer.append(draftOf({ run_id: null, ...draft }));
      if (later === undefined || draft !== drafts[0]) continue;
      const output = { ...later, truncated: false };
      const survivors = [{ pid: 7, command: 'sleep 9' }];
      await appendLater(this.journal, writer.id, [{ entry_id, survivors, output }], env);
    }
    await writer.finalize('complete', 'over');
    return writer.id;
  }

  /** A capture that is over, sealed if there is a ledger. Gives its id and directory. */
  async captureOf(
    ledger: Ledger | undefined,
    { output, command = 'true', closed = true }: CaptureContent,
  ): Promise<{ readonly id: string; readonly dir: string }> {
    const argv = ['bash', '-c', command];
    const words = { kind: 'argv', argv } as const;
    const meta = newMeta({ command: words, cwd: '/', transport: 'pipe', outputBytesMax: 10_000 });
    const dir = createCapture(this.store, meta, argv);
    const bytes = Buffer.from(output);
    fs.writeFileSync(join(dir, 'output.bin'), bytes, { mode: 0o600 });
    const final = { ...FINAL, outputBytes: bytes.length, outputClosed: closed };
    fs.writeFileSync(join(dir, 'final.json'), encodeFinal(final, meta.id), { mode: 0o600 });
    if (ledger !== undefined) await sealCaptures({ ledger, store: this.store, owner: ME });
    return { id: meta.id, dir };
  }

  /** The session's lines. */
  linesOf(session: string): string[] {
    return fs.readFileSync(this.session(session), 'utf8').split('\n').slice(0, -1);
  }

  /** What `cuff verify --deep` says, without its first lines on how far it reaches. */
  async verified(
    ledger: Ledger,
    directory = this.journal,
  ): Promise<{ intact: boolean; words: readonly string[] }> {
    await ledger.sign();
    const { store } = this;
    const evidence = gatherEvidence({ store, directories: [directory], deep: true });
    const verification = verifyEvidence(evidence);
    const words = verificationWords(verification, this.time).filter((line) =>
      /redacted/.test(line),
    );
    return { intact: verification.intact, words: words.map((line) => line.trim()) };
  }

  /** Every file below the state root and the project that has these bytes. */
  filesWith(text: string): string[] {
    return fs
      .readdirSync(this.dir, { recursive: true, encoding: 'utf8' })
      .map((name) => join(this.dir, name))
      .filter((path) => fs.statSync(path).isFile() && fs.readFileSync(path).includes(text));
  }
}

type CaptureContent = {
  readonly output: string | Uint8Array;
  readonly command?: string;
  readonly closed?: boolean;
};
