// Who is answered, and who learns nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLOSE } from '../../src/web/api.ts';
import { Page } from './helper.ts';

let page: Page;
beforeAll(async () => {
  page = await Page.open();
  // So that there is something to be seen.
  await page.journal.cli.run('seen', 'echo', 'out');
});
afterAll(() => page.close());

const status = (answer: string): string => answer.split('\r\n')[0] ?? '';

function request(path: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return page.raw([`GET ${path} HTTP/1.1`, ...lines, 'Connection: close']);
}

describe('a caller from elsewhere', () => {
  it('learns nothing by a name that was rebound, on any path', async () => {
    const authorization = `Bearer ${page.token}`;
    for (const path of ['/', '/app.js', '/api/hello', '/api/sessions', '/api/runs/seen/bytes']) {
      for (const host of [
        'evil.example',
        `evil.example:${page.server.port}`,
        '127.0.0.1.evil.example',
      ]) {
        const answer = await request(path, { Host: host, Authorization: authorization });
        expect([path, host, status(answer)]).toEqual([path, host, 'HTTP/1.1 403 Forbidden']);
        expect(answer).not.toMatch(/seen|doctype|project/);
      }
    }
  });

  it('needs a Host', async () => {
    const none = await page.raw(['GET /api/hello HTTP/1.1', 'Connection: close']);
    expect(status(none)).toBe('HTTP/1.1 400 Bad Request');
    const old = await page.raw(['GET /api/hello HTTP/1.0']);
    expect(status(old)).toBe('HTTP/1.1 403 Forbidden');
  });

  it('is refused by its Origin, also another page of this machine', async () => {
    const port = page.server.port + 1;
    const host = `127.0.0.1:${page.server.port}`;
    for (const origin of [
      'http://evil.example',
      `http://127.0.0.1:${port}`,
      `http://localhost:${page.server.port}`,
      `https://${host}`,
      'null',
    ]) {
      const headers = { Host: host, Origin: origin, Authorization: `Bearer ${page.token}` };
      expect([origin, status(await request('/api/hello', headers))]).toEqual([
        origin,
        'HTTP/1.1 403 Forbidden',
      ]);
    }
    const own = { Host: host, Origin: `http://${host}`, Authorization: `Bearer ${page.token}` };
    expect(status(await request('/api/hello', own))).toBe('HTTP/1.1 200 OK');
  });

  it('comes through a tunnel, which has a port of its own', async () => {
    const host = 'localhost:9';
    const headers = { Host: host, Origin: `http://${host}`, Authorization: `Bearer ${page.token}` };
    expect(status(await request('/api/hello', headers))).toBe('HTTP/1.1 200 OK');
  });
});

const ROUTES = [
  ...['hello', 'sessions', 'sessions/x', 'runs', 'runs/seen', 'runs/seen/bytes', 'search?q=out'],
  ...[
    'stats',
    'activity',
    'verify',
    'seal',
    'proof/e_1',
    'health',
    'storage',
    'policy',
    'questions',
  ],
];

describe('the token', () => {
  it('is needed for every question, and must be one', async () => {
    for (const path of ROUTES) {
      for (const token of ['', 'wrong', `${page.token}x`, page.token.slice(1)]) {
        const {
          status: found,
          json,
          headers,
        } = await page.get(path, {
          authorization: token === '' ? '' : `Bearer ${token}`,
        });
        expect([path, found]).toEqual([path, 401]);
        expect(headers.get('www-authenticate')).toBe('Bearer');
        expect(Object.keys(json)).toEqual(['error']);
      }
    }
  });

  it('is needed for every deed', async () => {
    for (const path of ['kill', 'pin', 'approve', 'seal', 'sweep', 'policy/whatif']) {
      expect((await page.post(path, {}, '')).status).toBe(401);
      expect((await page.post(path, {}, 'wrong')).status).toBe(401);
    }
  });

  it('is given for a code once', async () => {
    const code = page.code();
    expect((await page.post('token', { code }, '')).status).toBe(200);
    const again = await page.post('token', { code }, '');
    expect(again.status).toBe(401);
    expect(again.json.error.message).toBe('This link was used before, or is older than a minute.');
  });

  it('is given to one of many that have the code at the same time', async () => {
    const code = page.code();
    const all = await Promise.all(
      Array.from({ length: 10 }, () => page.post('token', { code }, '')),
    );
    expect(all.map((one) => one.status).sort()).toEqual([200, ...Array(9).fill(401)]);
  });

  it('is not given for a code that is a minute old', async () => {
    const [early, late] = [page.code(), page.code()];
    page.now += 59_999;
    expect((await page.post('token', { code: early }, '')).status).toBe(200);
    page.now += 1;
    expect((await page.post('token', { code: late }, '')).status).toBe(401);
  });

  it('is not given for anything else', async () => {
    for (const code of ['', 'x', 7, null, ['a'], { code: 'a' }]) {
      expect([400, 401]).toContain((await page.post('token', { code }, '')).status);
    }
    expect((await page.get('token')).status).toBe(405);
  });

  it('ends with the server', async () => {
    const before = page.token;
    await page.stop();
    await page.start();
    expect((await page.get('hello', { authorization: `Bearer ${before}` })).status).toBe(401);
    expect((await page.get('hello')).status).toBe(200);
  });
});

describe('every answer', () => {
  it('sets no cookie, is not kept, and is only what it says', async () => {
    const good = ['/', '/app.js', '/deep/part.js', ...ROUTES.map((path) => `/api/${path}`)];
    for (const path of [...good, '/nothing', '/api/nothing', '/../package.json']) {
      const { headers } = await fetch(`${page.url}${path}`, {
        headers: { authorization: `Bearer ${page.token}` },
      });
      expect([path, headers.get('set-cookie')]).toEqual([path, null]);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      const policy = headers.get('content-security-policy') ?? '';
      for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'"]) {
        expect(policy).toContain(part);
      }
      expect(policy).toContain("frame-ancestors 'none'; require-trusted-types-for 'script'");
      expect(policy).not.toMatch(/unsafe|\*|http/);
    }
  });

  it('of the page has a nonce that no other answer had', async () => {
    const nonces = new Set<string>();
    for (let i = 0; i < 3; i += 1) {
      const response = await fetch(`${page.url}/`);
      const nonce = /style-src 'self' 'nonce-([^']+)'/.exec(
        response.headers.get('content-security-policy') ?? '',
      )?.[1];
      expect(await response.text()).toContain(`content="${nonce}"`);
      nonces.add(nonce ?? '');
    }
    expect(nonces.size).toBe(3);
  });
});

describe('hostile requests', () => {
  it('find no file but those of the page', async () => {
    const paths = [
      '/../package.json',
      '/%2e%2e/package.json',
      '/deep/../app.js',
      '//app.js',
      '/%00',
    ];
    for (const path of [...paths, '/deep', '/app.js/', '/index.htm', '/etc/passwd']) {
      const answer = await request(path, { Host: '127.0.0.1' });
      expect([path, status(answer)]).toEqual([path, 'HTTP/1.1 404 Not Found']);
    }
  });

  it('name no run and no session by a path', async () => {
    const ids = [
      '..',
      '%2e%2e',
      '..%2fseen',
      '.',
      '%2e',
      'a%00b',
      '~',
      '...',
      'seen%2f..',
      '-',
      '*',
    ];
    for (const id of ids) {
      for (const path of [`/api/runs/${id}`, `/api/runs/${id}/bytes`, `/api/sessions/${id}`]) {
        const headers = { Host: '127.0.0.1', Authorization: `Bearer ${page.token}` };
        const found = status(await request(path, headers));
        expect([path, found]).toEqual([path, 'HTTP/1.1 404 Not Found']);
      }
    }
  });

  it('are no JSON, too long, of another type or of another form', async () => {
    for (const body of ['', '{', 'null', '[]', '"x"', '{"id":"seen","more":1}', '{"id":7}']) {
      const { status: found, json } = await page.post('kill', body);
      expect([body, found]).toEqual([body, 400]);
      expect(json.error.message).toMatch(/\.$/);
    }
    const form = await fetch(`${page.url}/api/kill`, {
      method: 'POST',
      headers: { authorization: `Bearer ${page.token}` },
      body: new URLSearchParams({ id: 'seen' }),
    });
    expect(form.status).toBe(415);
    const huge = { text: 'x'.repeat(6 * 1024 * 1024) };
    // The server may close before all of it is sent.
    const answer = await page.post('policy/lint', huge).catch(() => undefined);
    expect([413, undefined]).toContain(answer?.status);
    expect((await page.get('hello')).status).toBe(200);
  });

  it('have parameters that none knows, or that are not what they should be', async () => {
    const wrong = ['sessions?limits=3', 'sessions?limit=0', 'sessions?limit=1e9', 'runs?live=yes'];
    const more = ['sessions?q=a&q=b', 'sessions?since=never', 'sessions?cursor=zzz', 'hello?a=1'];
    for (const path of [...wrong, ...more, 'runs/seen/index?from=-1', 'runs/seen/place']) {
      const { status: found, json } = await page.get(path);
      expect([path, found, json.error.code]).toEqual([path, 400, 'usage']);
    }
  });

  it('use another method', async () => {
    for (const [method, path] of [
      ['PUT', '/api/hello'],
      ['DELETE', '/api/runs/seen'],
      ['POST', '/api/hello'],
      ['GET', '/api/policy/lint'],
      ['POST', '/'],
    ]) {
      const { status: found } = await fetch(`${page.url}${path}`, {
        method: method ?? '',
        headers: {
          authorization: `Bearer ${page.token}`,
          'content-type': 'application/json',
        },
        ...(method === 'GET' ? {} : { body: '{}' }),
      });
      expect([method, path, found]).toEqual([method, path, 405]);
    }
  });
});

describe('a WebSocket', () => {
  it('is opened by the own page alone', async () => {
    for (const origin of ['', 'http://evil.example', 'http://localhost:3000', 'null']) {
      const tab = page.socket(origin);
      await expect(tab.opened).rejects.toThrow('403');
    }
  });

  it('hears nothing before the token, and is closed for anything else', async () => {
    for (const first of [{ sub: 'sessions' }, { token: 'wrong' }, { token: 7 }, 'no json', '[]']) {
      const tab = page.socket();
      await tab.opened;
      tab.say(first);
      tab.say({ token: page.token });
      expect(await tab.closed).toBe(CLOSE.unauthorized);
      expect([tab.messages, tab.frames]).toEqual([[], []]);
    }
  });

  it('is closed for what is no message, and for one that is too long', async () => {
    for (const words of ['x', '{"sub":"everything"}', '{}', '[1]']) {
      const tab = await page.tab();
      tab.say(words);
      expect(await tab.closed).toBe(CLOSE.badMessage);
    }
    const tab = await page.tab();
    tab.say(`{"sub":"run","id":"${'x'.repeat(20_000)}"}`);
    expect(await tab.closed).toBe(1009);
  });

  it('is told which run there is not, and stays open', async () => {
    const tab = await page.tab();
    for (const id of ['nothing', '..', '../seen', '']) {
      tab.say({ sub: 'run', id, from: 0 });
      expect(await tab.message('error')).toMatchObject({ id });
    }
    tab.say({ sub: 'run', id: 'seen', from: -1 });
    expect(await tab.message('error')).toMatchObject({ code: 'usage' });
    tab.say({ sub: 'run', id: 'seen', from: 0 });
    expect(await tab.message('run')).toMatchObject({ id: 'seen', output_bytes: 4 });
  });
});

it('no mistake of the server was among the answers', () => {
  expect(page.errors).toEqual([]);
});
