// Calls one tool of one server again and again, as an agent's client would, and prints the
// milliseconds of each call. An echo gets the time of a spawn from a small process on top.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { interleave, timed } from '../measure.mjs';

const SPAWNS = 200;

const { server, root, calls } = JSON.parse(process.argv[2]);
mkdirSync(root, { recursive: true });
const here = new URL('.', import.meta.url).pathname;
const ours = server.startsWith('cuff');
const config = join(root, 'config');
mkdirSync(join(config, 'cuff'), { recursive: true });
if (server === 'cuff-unsealed') {
  writeFileSync(join(config, 'cuff', 'settings.yml'), 'seal: { enabled: false }\n');
}
const transport = new StdioClientTransport({
  command: process.execPath,
  args: ours ? [join(here, '../../dist/cuff.cjs'), 'mcp'] : [join(here, 'mcp-server.mjs')],
  cwd: root,
  env: { ...process.env, CUFF_STATE_ROOT: join(root, 'state'), XDG_CONFIG_HOME: config },
  stderr: 'ignore',
});
const client = new Client({ name: 'cuff-bench', version: '1' });
await client.connect(transport);
const params = ours
  ? { name: 'bash_recorder_execute', arguments: { command: 'true' } }
  : { name: server, arguments: {} };
const call = async () => {
  const { isError, content } = await client.callTool(params);
  if (isError || (ours && !content[0].text.includes('"recording_id": "e_'))) {
    throw new Error(JSON.stringify(content));
  }
};
const { samples } = await interleave(calls, { samples: () => timed(call) }, { warmUp: 20 });
await client.close();
const extra = server === 'echo' ? smallSpawn() : 0;
console.log(JSON.stringify(samples.map((ms) => ms + extra)));

/** Node's own size makes its spawns slow; a shell's does not. */
function smallSpawn() {
  const loop = `i=0; while [ $i -lt ${SPAWNS} ]; do /bin/bash -c true; i=$((i+1)); done`;
  const start = performance.now();
  spawnSync('/bin/sh', ['-c', loop]);
  return (performance.now() - start) / SPAWNS;
}
