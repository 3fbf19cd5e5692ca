import { describe, expect, it } from 'vitest';
import type { Face, FaceCall, FaceResult } from '../../src/mcp/face.ts';
import { faceOf, RESULT_BYTES_MAX } from '../../src/mcp/server.ts';
import { probeHost } from './probe.ts';

async function probeFace(): Promise<{
  face: Face;
  call: (name: string, args?: object, more?: Partial<FaceCall>) => Promise<FaceResult>;
}> {
  const onerror = (): void => undefined;
  const face = faceOf(await probeHost(), { name: 'cuff', version: '0.0.0', onerror });
  const { signal } = new AbortController();
  const about = { meta: {}, client: undefined, connection: undefined, signal };
  const call = (name: string, args = {}, more = {}): Promise<FaceResult> =>
    face.call({ name, args: { ...args }, ...about, ...more });
  return { face, call };
}

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('a host behind its face', () => {
  it('gives a tool its arguments, and what is known about the call', async () => {
    const { call } = await probeFace();
    const client = { name: 'someone', version: '1' };
    const meta = { conversation_id: 'c1' };
    const result = await call('probe_echo', { a: 1 }, { client, meta, progress: () => undefined });
    const facts = { args: { a: 1 }, meta, client, progress: true };
    expect(result).toEqual({ isError: false, text: JSON.stringify(facts), structured: facts });
    expect((await call('probe.echo')).structured).toMatchObject({ progress: false, client: null });
  });

  it('says in one line what failed', async () => {
    const { call } = await probeFace();
    const failed = await call('probe_fail');
    expect(failed).toMatchObject({ isError: true });
    expect(failed.text).toContain('first line\\nsecond line');
    expect(await call('no_such')).toMatchObject({ isError: true, text: 'Unknown tool: no_such' });
  });

  it('cuts text that no client would take, and says so', async () => {
    const { call } = await probeFace();
    for (const text of ['x', '€', '😀', '\0', '"', '\n']) {
      const result = await call('probe_say', { text, times: 5_000_000 });
      expect(result.isError).toBe(false);
      expect(bytes(result.text)).toBeLessThanOrEqual(RESULT_BYTES_MAX);
      expect(bytes(result.text)).toBeGreaterThan(RESULT_BYTES_MAX - 100);
      expect(result.text).toMatch(/\[Cut: the answer has \d+ bytes, and 4194304 can be sent\.\]$/);
      expect(Buffer.from(result.text).toString()).toBe(result.text); // no half of a character
    }
    const small = await call('probe_say', { text: 'x', times: 1_000_000 });
    expect(small.text.length).toBe(1_000_000);
  });

  it('gives no half of facts that are too many', async () => {
    const { call } = await probeFace();
    expect(await call('probe_say', { text: 'x', times: 5_000_000, structured: true })).toEqual({
      isError: true,
      text: 'the answer has 5000022 bytes, ask for less of it at a time',
    });
  });

  it('reads resources, cut like text', async () => {
    const { face } = await probeFace();
    expect(face.templates().map((one) => one.uriTemplate)).toEqual(['probe://{id}']);
    expect(await face.read('probe://3')).toMatchObject({ text: 'xxx', mimeType: 'text/plain' });
    expect(bytes((await face.read('probe://9000000'))?.text)).toBeLessThanOrEqual(RESULT_BYTES_MAX);
    expect(await face.read('other://3')).toBeUndefined();
  });
});
