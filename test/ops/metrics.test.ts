// The seven metrics as Prometheus reads them, and the two pages of the small server.

import { get, type IncomingHttpHeaders } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics, processMetrics, serveMetrics } from '../../src/ops/metrics.ts';
import { refusal } from '../../src/text/http-access.ts';
import type { Health } from '../../src/types.ts';

const WELL: Health = { healthy: true, reasons: [] };

/** The lines that start so, without the buckets of the histogram. */
function linesOf(text: string, start: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(start) && !line.includes('_bucket'));
}

describe('the metrics', () => {
  it('have the names, types and labels of the seed', async () => {
    const metrics = await createMetrics();
    metrics.command({ exitCode: 0, timedOut: false, durationMs: 1500 });
    metrics.command({ exitCode: null, timedOut: true, durationMs: 500 });
    metrics.recordingError('ENOSPC');
    metrics.activeSessions(2);
    metrics.entry({ bytes: 100, truncated: false });
    metrics.entry({ bytes: 23, truncated: true });
    const text = await metrics.text();
    expect(linesOf(text, '# TYPE')).toEqual([
      '# TYPE bash_recorder_commands_total counter',
      '# TYPE bash_recorder_command_duration_seconds histogram',
      '# TYPE bash_recorder_recording_errors_total counter',
      '# TYPE bash_recorder_active_sessions gauge',
      '# TYPE bash_recorder_entries_recorded_total counter',
      '# TYPE bash_recorder_output_bytes_total counter',
      '# TYPE bash_recorder_output_truncated_total counter',
      '# TYPE cuff_policy_decisions_total counter',
      '# TYPE cuff_policy_shadow_divergence_total counter',
    ]);
    expect(linesOf(text, 'bash_recorder_')).toEqual([
      'bash_recorder_commands_total{exit_code="0",timed_out="false"} 1',
      'bash_recorder_commands_total{exit_code="none",timed_out="true"} 1',
      'bash_recorder_command_duration_seconds_sum 2',
      'bash_recorder_command_duration_seconds_count 2',
      'bash_recorder_recording_errors_total{error_type="ENOSPC"} 1',
      'bash_recorder_active_sessions 2',
      'bash_recorder_entries_recorded_total 2',
      'bash_recorder_output_bytes_total 123',
      'bash_recorder_output_truncated_total 1',
    ]);
  });

  it('count what a policy said, by its word and its code', async () => {
    const metrics = await createMetrics();
    metrics.policyDecision({ verdict: 'deny', code: 'rule.deny' });
    metrics.policyDecision({ verdict: 'deny', code: 'rule.deny' });
    metrics.shadowDivergence();
    expect(linesOf(await metrics.text(), 'cuff_policy')).toEqual([
      'cuff_policy_decisions_total{verdict="deny",code="rule.deny"} 2',
      'cuff_policy_shadow_divergence_total 1',
    ]);
  });

  it('are the same for everybody in the process', async () => {
    expect(await processMetrics()).toBe(await processMetrics());
  });
});

describe('the metrics server', () => {
  const TOKENS = ['the-token-for-all', 'the-token-to-read'] as const;
  const refuse = (headers: IncomingHttpHeaders) => refusal(headers, ...TOKENS);
  const fetch = (url: string, options: RequestInit = {}) =>
    globalThis.fetch(url, { headers: { authorization: `Bearer ${TOKENS[1]}` }, ...options });

  async function served(health: () => Promise<Health>): Promise<string> {
    const server = await serveMetrics(0, { metrics: await createMetrics(), health, refuse });
    onTestFinished(() => server.close());
    return `http://127.0.0.1:${server.port}`;
  }

  it('shows the metrics and the health', async () => {
    const url = await served(async () => WELL);
    const metrics = await fetch(`${url}/metrics`);
    expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await metrics.text()).toContain('bash_recorder_entries_recorded_total 0');
    const health = await fetch(`${url}/health`);
    expect([health.status, await health.json()]).toEqual([200, { healthy: true, reasons: [] }]);
  });

  it('says 503 while the health is bad, and 500 when nobody knows', async () => {
    const bad = await served(async () => ({ healthy: false, reasons: ['No room.'] }));
    expect((await fetch(`${bad}/health`)).status).toBe(503);
    const unknown = await served(() => Promise.reject(new Error('asked too much')));
    expect((await fetch(`${unknown}/health`)).status).toBe(500);
  });

  it('has nothing else, and takes nothing', async () => {
    const url = await served(async () => WELL);
    expect((await fetch(`${url}/else`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
    expect(await (await fetch(`${url}/metrics`, { method: 'HEAD' })).text()).toBe('');
  });

  it('wants a token, any of the two, and no page of another origin', async () => {
    const url = await served(async () => WELL);
    for (const path of ['/metrics', '/health']) {
      const without = await fetch(`${url}${path}`, { headers: {} });
      expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await without.text()).toMatch(/^A bearer token is needed/);
      for (const token of TOKENS) {
        const headers = { authorization: `Bearer ${token}` };
        expect((await fetch(`${url}${path}`, { headers })).status).toBe(200);
        const elsewhere = { ...headers, origin: 'http://evil.example' };
        expect((await fetch(`${url}${path}`, { headers: elsewhere })).status).toBe(403);
      }
    }
  });

  it('is not there under another name', async () => {
    const url = new URL(await served(async () => WELL));
    const status = await new Promise((resolve) => {
      const options = { port: url.port, path: '/health', headers: { host: 'evil.example' } };
      get({ host: '127.0.0.1', ...options }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
    });
    expect(status).toBe(403);
  });

  it('says when its port is taken', async () => {
    const url = await served(async () => WELL);
    const port = Number(new URL(url).port);
    const again = serveMetrics(port, {
      metrics: await createMetrics(),
      health: async () => WELL,
      refuse,
    });
    await expect(again).rejects.toThrow('EADDRINUSE');
  });
});
