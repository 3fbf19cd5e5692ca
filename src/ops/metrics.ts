// What a recorder counts, under seed 000's seven names, and the small server that shows it to
// Prometheus. No label holds anything a caller chose: label values must stay few, and never secret.

import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Health } from '../types.ts';

/** One executed command, for the counters. */
type CommandFacts = {
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
};

export type RecorderMetrics = {
  command(facts: CommandFacts): void;
  /** An entry was written that holds so many bytes of output. */
  entry(output: { readonly bytes: number; readonly truncated: boolean }): void;
  recordingError(errorType: string): void;
  activeSessions(count: number): void;
  /** One command that a policy was asked about. */
  policyDecision(decision: { readonly verdict: string; readonly code: string }): void;
  /** The policy in the shadow would have decided otherwise. */
  shadowDivergence(): void;
  /** Prometheus' text form. */
  text(): Promise<string>;
};

// From a builtin to the longest timeout there is.
const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 600,
];

let shared: Promise<RecorderMetrics> | undefined;

/** The metrics of this process; every caller gets the same ones. */
export function processMetrics(): Promise<RecorderMetrics> {
  shared ??= createMetrics();
  return shared;
}

export async function createMetrics(): Promise<RecorderMetrics> {
  // A CommonJS package: only its default is the same in a bundle and outside of one.
  const { Counter, Gauge, Histogram, Registry } = (await import('prom-client')).default;
  const registers = [new Registry()];
  const [registry] = registers;
  const commands = new Counter({
    name: 'bash_recorder_commands_total',
    help: 'Total commands executed',
    labelNames: ['exit_code', 'timed_out'],
    registers,
  });
  const duration = new Histogram({
    name: 'bash_recorder_command_duration_seconds',
    help: 'Command execution duration',
    buckets: DURATION_BUCKETS,
    registers,
  });
  const errors = new Counter({
    name: 'bash_recorder_recording_errors_total',
    help: 'Recording failures',
    labelNames: ['error_type'],
    registers,
  });
  const sessions = new Gauge({
    name: 'bash_recorder_active_sessions',
    help: 'Number of active recording sessions',
    registers,
  });
  const entries = new Counter({
    name: 'bash_recorder_entries_recorded_total',
    help: 'Total recording entries written',
    registers,
  });
  const outputBytes = new Counter({
    name: 'bash_recorder_output_bytes_total',
    help: 'Total bytes of output captured',
    registers,
  });
  const truncated = new Counter({
    name: 'bash_recorder_output_truncated_total',
    help: 'Commands with truncated output',
    registers,
  });
  const { decisions, divergences } = policyCounters(Counter, registers);
  return {
    command({ exitCode, timedOut, durationMs }) {
      commands.inc({ exit_code: String(exitCode ?? 'none'), timed_out: String(timedOut) });
      duration.observe(durationMs / 1000);
    },
    entry(output) {
      entries.inc();
      outputBytes.inc(output.bytes);
      if (output.truncated) truncated.inc();
    },
    recordingError: (errorType) => errors.inc({ error_type: errorType }),
    activeSessions: (count) => sessions.set(count),
    policyDecision: ({ verdict, code }) => decisions.inc({ verdict, code }),
    shadowDivergence: () => divergences.inc(),
    text: async () => registry?.metrics() ?? '',
  };
}

type Prometheus = typeof import('prom-client');

function policyCounters(Counter: Prometheus['Counter'], registers: Registers) {
  return {
    decisions: new Counter({
      name: 'cuff_policy_decisions_total',
      help: 'Commands that a policy decided about',
      labelNames: ['verdict', 'code'],
      registers,
    }),
    divergences: new Counter({
      name: 'cuff_policy_shadow_divergence_total',
      help: 'Decisions that the shadow policy would have made otherwise',
      registers,
    }),
  };
}

type Registers = InstanceType<Prometheus['Registry']>[];

export type MetricsServer = { readonly port: number; close(): Promise<void> };

type Sources = {
  readonly metrics: RecorderMetrics;
  readonly health: () => Promise<Health>;
  /** Why a request with these headers is not served. */
  readonly refuse: (
    headers: IncomingHttpHeaders,
  ) => { readonly status: number; readonly message: string } | undefined;
};

/** `/metrics` and `/health` on 127.0.0.1; port 0 takes a free one. Rejects when it is taken. */
export async function serveMetrics(port: number, sources: Sources): Promise<MetricsServer> {
  const server = createServer(async (request, response) => {
    const { status, type, body } = await answer(request, sources).catch((error: unknown) =>
      plain(500, `${error}\n`),
    );
    const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
    const headers = { 'content-type': type, 'cache-control': 'no-store', ...challenge };
    response.writeHead(status, headers);
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Answer = { readonly status: number; readonly type: string; readonly body: string };

async function answer(
  { method, url, headers }: IncomingMessage,
  { metrics, health, refuse }: Sources,
): Promise<Answer> {
  const path = url?.split('?')[0];
  const refused = refuse(headers);
  if (refused !== undefined) return plain(refused.status, `${refused.message}\n`);
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'Only GET.\n');
  if (path === '/metrics') {
    const type = 'text/plain; version=0.0.4; charset=utf-8';
    return { status: 200, type, body: await metrics.text() };
  }
  if (path === '/health') {
    const found = await health();
    const body = `${JSON.stringify(found)}\n`;
    return { status: found.healthy ? 200 : 503, type: 'application/json', body };
  }
  return plain(404, 'There are /metrics and /health.\n');
}

function plain(status: number, body: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body };
}
