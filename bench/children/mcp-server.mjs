// The least a server can be with the SDK: one tool that answers at once, and one that runs `true`
// with Node's own spawn, collects its output, and records nothing.
import { spawn } from 'node:child_process';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const TOOLS = { echo: async () => 'hello', spawn: runTrue };

serveStdio(() => {
  const server = new Server({ name: 'bare', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = { type: 'object', properties: {} };
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(TOOLS).map((name) => ({ name, description: name, inputSchema })),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => ({
    content: [{ type: 'text', text: await TOOLS[params.name]() }],
  }));
  return server;
});

function runTrue() {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const pieces = [];
    child.stdout.on('data', (piece) => pieces.push(piece));
    child.stderr.on('data', (piece) => pieces.push(piece));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve(JSON.stringify({ code, output: Buffer.concat(pieces).toString() }));
    });
  });
}
