// Entries on disk: ours by 8 at once, each waited for; the baseline one bare line at a time,
// written and synced. Prints the milliseconds of each.
import { closeSync, fdatasync, mkdirSync, openSync, write } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { timed } from '../measure.mjs';

const LANES = 8;

const { side, root, count } = JSON.parse(process.argv[2]);
mkdirSync(root, { recursive: true });
const samples = side === 'ours' ? await ours() : await baseline();
console.log(JSON.stringify(samples));

/** Of so many rounds of 8, the time of one entry. */
async function ours() {
  const { startSession } = await journal();
  const facts = { workingDirectory: root, agentId: null, conversationId: null, owner: null };
  const writer = startSession(join(root, 'journal'), facts, { now: Date.now });
  const round = () => Promise.all(Array.from({ length: LANES }, () => writer.append(draft())));
  const made = [];
  for (let i = -20; i < Math.ceil(count / LANES); i += 1) {
    const ms = await timed(round);
    if (i >= 0) made.push(ms / LANES);
  }
  await writer.finalize('complete', 'bench');
  return made;
}

async function baseline() {
  const fd = openSync(join(root, 'bare.jsonl'), 'a', 0o600);
  const [put, sync] = [promisify(write), promisify(fdatasync)];
  const line = Buffer.from(`${JSON.stringify(draft())}\n`);
  const made = [];
  for (let i = -20; i < count; i += 1) {
    const ms = await timed(async () => {
      await put(fd, line);
      await sync(fd);
    });
    if (i >= 0) made.push(ms);
  }
  closeSync(fd);
  return made;
}

/** The journal is no part of the library, so it is bundled here. */
async function journal() {
  const outfile = join(root, 'writer.mjs');
  const entry = new URL('../../src/journal/writer.ts', import.meta.url).pathname;
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm' });
  return import(outfile);
}

function draft() {
  return {
    timestamp: '2026-01-18T14:30:52.123000Z',
    duration_ms: 12,
    command: 'git status',
    description: 'Check working tree status',
    working_directory: root,
    shell: '/bin/bash',
    timeout_seconds: 120,
    timed_out: false,
    exit_code: 0,
    stdout: 'On branch main\nnothing to commit, working tree clean\n',
    stderr: '',
    output_truncated: false,
    output_truncated_bytes: null,
    environment: null,
    agent_id: 'bench',
    conversation_id: null,
    tool_call_id: null,
    opencuff_version: '0.1.0',
    plugin_version: '1.0.0',
    run_id: '20260118-143052-0000abcd',
    end_reason: 'itself',
    signal: null,
    trace_id: null,
    context_source: 'self-reported',
  };
}
