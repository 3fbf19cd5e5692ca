// What a person does on the page: ends a run, pins it, answers a question, seals, sweeps. Each is
// what the command of that name does, and refuses what it refuses.

import { isAppError } from '../errors.ts';
import { openLog } from '../log.ts';
import { Approvals } from '../policies/approvals.ts';
import { approve } from '../policies/approve.ts';
import { sessionEntries } from '../recordings/sessions.ts';
import { thisProcess } from '../run/processes.ts';
import type { Ledger } from '../sealing/ledger.ts';
import { openLedger } from '../sealing/open.ts';
import { pinRun } from '../sealing/pin.ts';
import { anchorsJson, headJson, sealAll } from '../sealing/seal-all.ts';
import type { Store } from '../shell/captures.ts';
import { checkedSignal, killJson, killRun } from '../shell/kill-report.ts';
import { sweepLogged } from '../shell/sweep.ts';
import type { ApproveAnswer, KillAnswer, PinAnswer, SealedAnswer, SweepAnswer } from './api.ts';
import { bodyOf, onOrOff, optionalText, textOf } from './body.ts';
import { Fault, notFound } from './fault.ts';
import { journalWith } from './journals.ts';
import type { RowExtras } from './row-extras.ts';
import { captureOf } from './runs.ts';
import type { SessionTable } from './session-table.ts';

type DeedGround = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly store: Store;
  readonly table: SessionTable;
  readonly extras: RowExtras;
};

type Act = (ground: DeedGround, body: unknown) => Promise<unknown>;

const SEAL_WAIT_MS = 60_000; // a repository or a witness that is far away

const kill: Act = async ({ store }, body): Promise<KillAnswer> => {
  const json = bodyOf(body, ['id', 'signal']);
  const wanted = optionalText(json, 'signal');
  const signal = wanted === undefined ? undefined : checkedSignal(wanted);
  const { id } = captureOf(store, textOf(json, 'id'));
  return killJson(await killRun(store, id, { signal }));
};

const pin: Act = async (ground, body): Promise<PinAnswer> => {
  const json = bodyOf(body, ['run', 'session', 'pinned']);
  const pinned = onOrOff(json, 'pinned');
  const [run, session] = [optionalText(json, 'run'), optionalText(json, 'session')];
  if ((run === undefined) === (session === undefined)) {
    throw new Fault(400, 'Name a run or a session, and not both.');
  }
  const wanted = run === undefined ? runsOf(ground, session ?? '') : [run];
  if (run !== undefined) captureOf(ground.store, run);
  const runs: string[] = [];
  await withLedger(ground, async (ledger) => {
    for (const id of wanted) {
      try {
        captureOf(ground.store, id);
        await pinRun(ground.store, id, { pinned, ledger });
        runs.push(id);
      } catch (error) {
        // Of a session some runs are gone.
        if (!isAppError(error) || error.code !== 'session_not_found') throw error;
      }
    }
  });
  ground.extras.forgetPins();
  return { runs, pinned };
};

function runsOf({ table }: DeedGround, session: string): readonly string[] {
  const { directory } = journalWith(table.journals(), session, undefined);
  const ids = Array.from(sessionEntries(directory, session), ({ run_id }) => run_id);
  return [...new Set(ids.filter((id) => id !== null))];
}

const SPANS = ['once', 'hour', 'conversation', 'always', 'no'] as const;

const approval: Act = async ({ env, store }, body): Promise<ApproveAnswer> => {
  const json = bodyOf(body, ['id', 'answer', 'scope', 'pattern']);
  const id = textOf(json, 'id');
  const answer = SPANS.find((one) => one === json.answer);
  if (answer === undefined) throw new Fault(400, `'answer' is one of ${SPANS.join(', ')}.`);
  const scope = (['project', 'user'] as const).find((one) => one === (json.scope ?? 'project'));
  if (scope === undefined) throw new Fault(400, "'scope' is project or user.");
  const pattern = optionalText(json, 'pattern');
  if (answer === 'no') {
    const approvals = new Approvals(store.root);
    if (approvals.find(id) === undefined) throw notFound('question of this id');
    approvals.forget(id);
    return { id, approved: 'no' };
  }
  const options = answer === 'always' ? { always: scope, pattern } : { span: answer };
  const done = await approve(id, { env, ...options });
  const rule = done.kind === 'always' ? { file: done.file, patterns: done.patterns } : {};
  return { id, approved: done.kind, ...rule };
};

const seal: Act = async (ground, body): Promise<SealedAnswer> => {
  bodyOf(body, []);
  const { store, cwd: project, env, table } = ground;
  const sealed = await withLedger(ground, async (ledger) => {
    if (ledger === undefined) throw new Fault(409, 'The ledger is turned off in your settings.');
    const signal = AbortSignal.timeout(SEAL_WAIT_MS);
    const tools = { stateRoot: store.root, project, env, now: store.now, signal };
    const directory = table.journals()[0]?.directory ?? '';
    return sealAll(ledger, { ...tools, store, directory });
  });
  const { head, anchors, notices } = sealed;
  return { ...headJson(head), anchors: anchorsJson(anchors, head), notices: [...notices] };
};

const sweep: Act = async ({ store }, body): Promise<SweepAnswer> => {
  const dryRun = onOrOff(bodyOf(body, ['dry_run']), 'dry_run');
  const log = dryRun ? () => undefined : openLog(store.root);
  const all = await sweepLogged(store, log, { dryRun });
  const failed = all.filter(({ result }) => result === 'error');
  return {
    dry_run: dryRun,
    removed: all.filter(({ result }) => result === 'remove').map(({ id }) => id),
    kept: all.filter(({ result }) => result === 'skip').length,
    failed: failed.map(({ id, error = 'EIO' }) => ({ session_id: id, error })),
  };
};

async function withLedger<T>(
  { store, cwd, env }: DeedGround,
  use: (ledger: Ledger | undefined) => Promise<T>,
): Promise<T> {
  const { root: stateRoot, alive, now } = store;
  const ledger = openLedger({ stateRoot, owner: thisProcess(), alive, now, cwd, env });
  try {
    return await use(ledger);
  } finally {
    await ledger?.close();
  }
}

/** By the path of the route. */
export const DEEDS: Readonly<Record<string, Act>> = {
  '/api/kill': kill,
  '/api/pin': pin,
  '/api/approve': approval,
  '/api/seal': seal,
  '/api/sweep': sweep,
};
