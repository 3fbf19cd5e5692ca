// One WebSocket for each tab. What a page wants it subscribes to; after a break the socket is
// opened again and every subscription asked for anew, a run from the byte behind the last one that
// came.
import type { ClientMessage, ServerMessage } from '../../src/web/api.ts';
import { readFrame } from '../core/frames.ts';
import { connection, lost, revival, token } from './client.ts';

const RETRY_MS = 1_000;
const CLOSED_UNAUTHORIZED = 4401;

export type RunFollower = {
  readonly id: string;
  /** Where the bytes go on that the follower has. */
  readonly from: () => number;
  readonly bytes: (offset: number, bytes: Uint8Array) => void;
  /** `[from, to)` was not sent. */
  readonly behind: (from: number, to: number) => void;
  readonly state: (message: Extract<ServerMessage, { type: 'state' }>) => void;
};

type Topic = 'sessions' | 'runs' | 'questions';
type TopicMessage<T extends Topic> = Extract<ServerMessage, { type: T }>;
type Listener = (message: ServerMessage) => void;

let socket: WebSocket | undefined;
let ready = false;
const runs = new Map<string, RunFollower>();
const channels = new Map<number, string>();
const topics = new Map<Topic, Set<Listener>>();

export function subscribe<T extends Topic>(
  topic: T,
  listener: (message: TopicMessage<T>) => void,
): () => void {
  const listeners = topics.get(topic) ?? new Set();
  const one: Listener = (message) => {
    if (message.type === topic) listener(message as TopicMessage<T>);
  };
  listeners.add(one);
  topics.set(topic, listeners);
  open();
  send({ sub: topic });
  return () => {
    listeners.delete(one);
    if (listeners.size > 0) return;
    topics.delete(topic);
    send({ unsub: topic });
  };
}

/** A run is followed once in a tab: a second follower takes the place of the first. */
export function followRun(follower: RunFollower): () => void {
  const { id } = follower;
  if (runs.has(id)) send({ unsub: 'run', id });
  runs.set(id, follower);
  open();
  send({ sub: 'run', id, from: follower.from() });
  return () => {
    if (runs.get(id) !== follower) return;
    runs.delete(id);
    send({ unsub: 'run', id });
  };
}

function send(message: ClientMessage): void {
  if (ready && socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function open(): void {
  if (socket !== undefined || connection.value !== 'ok') return;
  const made = new WebSocket(`ws://${location.host}/api/live`);
  made.binaryType = 'arraybuffer';
  made.onopen = () => made.send(JSON.stringify({ token: token() }));
  made.onmessage = ({ data }) => {
    if (typeof data === 'string') hear(JSON.parse(data) as ServerMessage);
    else pass(data as ArrayBuffer);
  };
  made.onclose = ({ code }) => closed(code);
  socket = made;
}

function closed(code: number): void {
  socket = undefined;
  ready = false;
  channels.clear();
  lost(code === CLOSED_UNAUTHORIZED ? 'unauthorized' : 'gone');
  const again = () => {
    if (connection.value === 'ok') open();
    else setTimeout(again, RETRY_MS);
  };
  setTimeout(again, RETRY_MS);
}

revival.subscribe(() => {
  if (topics.size > 0 || runs.size > 0) open();
});

function hear(message: ServerMessage): void {
  if (message.type === 'ready') {
    ready = true;
    for (const topic of topics.keys()) send({ sub: topic });
    for (const follower of runs.values()) {
      send({ sub: 'run', id: follower.id, from: follower.from() });
    }
  } else if (message.type === 'run') channels.set(message.channel, message.id);
  else if (message.type === 'behind') runs.get(message.id)?.behind(message.from, message.to);
  else if (message.type === 'state') runs.get(message.id)?.state(message);
  else if (message.type === 'sessions' || message.type === 'runs' || message.type === 'questions') {
    for (const listener of topics.get(message.type) ?? []) listener(message);
  }
}

function pass(data: ArrayBuffer): void {
  const frame = readFrame(data);
  const id = frame && channels.get(frame.channel);
  if (frame !== undefined && id !== undefined) runs.get(id)?.bytes(frame.offset, frame.bytes);
}
