// `entries`: prints the microseconds of encoding an entry with and without a seal, whose leaf is
// written as the recorder writes it. `journal`: makes a project with many sealed entries and prints
// where it is.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { interleave, timed } from '../measure.mjs';

const BATCH = 500;
const OUTPUT_BYTES = 2_000;

const { what, root, bytes, count } = JSON.parse(process.argv[2]);
mkdirSync(root, { recursive: true, mode: 0o700 });
const project = join(root, 'project');
mkdirSync(join(project, '.git'), { recursive: true });
const directory = join(project, '.cuff', 'recordings');
const { Ledger, SessionSeal, startSession, thisProcess, processAlive } = await modules();
const owner = thisProcess();
const ledger = new Ledger({ stateRoot: root, owner, alive: processAlive, now: Date.now });
const result = what === 'entries' ? await entries() : await journal();
await ledger.close();
console.log(JSON.stringify(result));

async function entries() {
  mkdirSync(directory, { recursive: true });
  const sealed = new SessionSeal(ledger.sealOf()(directory), Date.now);
  const bare = new SessionSeal(undefined, Date.now);
  let sequence = 0;
  const side = (seal) => async () => {
    sequence += 1;
    const entry = { entry_id: `e_${sequence}`, session_id: 'bench', sequence_number: sequence };
    const draft = { ...entry, ...draftOf(bytes) };
    return 1_000 * (await timed(() => seal.line(draft).written()));
  };
  return interleave(count, { ours: side(sealed), baseline: side(bare) }, { warmUp: 200 });
}

async function journal() {
  const facts = { workingDirectory: project, agentId: null, conversationId: null, owner: null };
  const env = { now: Date.now, seal: ledger.sealOf() };
  for (let written = 0; written < count; written += BATCH) {
    const writer = startSession(directory, facts, env);
    const drafts = Array.from({ length: BATCH }, () => draftOf(OUTPUT_BYTES));
    await Promise.all(drafts.map((draft) => writer.append(draft)));
    await writer.finalize('complete', 'bench');
  }
  return { project };
}

/** They are no part of the library, so they are bundled here. */
async function modules() {
  const source = (path) => new URL(`../../src/${path}`, import.meta.url).pathname;
  const contents = [
    `export { Ledger } from '${source('sealing/ledger.ts')}';`,
    `export { SessionSeal } from '${source('journal/session-seal.ts')}';`,
    `export { startSession } from '${source('journal/writer.ts')}';`,
    `export { processAlive, thisProcess } from '${source('run/processes.ts')}';`,
  ].join('\n');
  const outfile = join(root, 'seal.mjs');
  const stdin = { contents, resolveDir: source('') };
  await build({ stdin, outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' });
  return import(outfile);
}

function draftOf(length) {
  return {
    timestamp: '2026-01-18T14:30:52.123000Z',
    duration_ms: 12,
    command: 'git status',
    description: 'Check working tree status',
    working_directory: project,
    shell: '/bin/bash',
    timeout_seconds: 120,
    timed_out: false,
    exit_code: 0,
    stdout: 'On branch main\n'.repeat(length / 15),
    stderr: '',
    output_truncated: false,
    output_truncated_bytes: null,
    environment: null,
    agent_id: 'bench',
    conversation_id: null,
    tool_call_id: null,
    opencuff_version: '0.1.0',
    plugin_version: '1.0.0',
    run_id: null,
    end_reason: 'itself',
    signal: null,
    trace_id: null,
    context_source: 'self-reported',
  };
}
