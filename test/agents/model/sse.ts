// How answers go out: as one JSON document, or as server-sent events.
import type { ServerResponse } from 'node:http';
import type { Json } from './json.ts';

export function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** Each event is named by its `type`, where it has one. `last` is a line behind them all. */
export function events(response: ServerResponse, all: readonly Json[], last?: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const one of all) {
    const name = typeof one.type === 'string' ? `event: ${one.type}\n` : '';
    response.write(`${name}data: ${JSON.stringify(one)}\n\n`);
  }
  response.end(last === undefined ? '' : `data: ${last}\n\n`);
}
