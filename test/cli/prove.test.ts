// `cuff prove` as a program, and its proofs in the hands of others: plain Python, Go's own packages
// for such notes and trees, and openssl.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import { journalBelow } from '../../src/recordings/directory.ts';
import { lacking } from '../requirements.ts';
import { binary, Cli, type Result } from './helper.ts';

const cli = new Cli();
const project = join(cli.root, 'project');
const elsewhere = join(cli.root, 'elsewhere');
const VERIFIER = join(import.meta.dirname, '../../src/cli/verify.py');
const COMMAND = ['sh', '-c', 'echo out; echo err >&2; exit 3'];

let id = '';
let session = '';
let vkey = '';

function inside(cwd: string, ...args: readonly string[]): Promise<Result> {
  const live = cli.start([process.execPath, binary('cuff'), ...args], { cwd });
  live.child.stdin?.end();
  return live.result;
}

beforeAll(async () => {
  for (const folder of [project, elsewhere]) mkdirSync(join(folder, '.git'), { recursive: true });
  await inside(project, 'run', '--journal', '--', 'echo', 'first');
  await inside(project, 'run', '--journal', '--', ...COMMAND);
  await inside(project, 'run', '--journal', '--', 'echo', 'last');
  const directory = journalBelow(project);
  [session = ''] = journalSessionIds(directory);
  id = readSession(directory, session)?.entries[1]?.entry_id ?? '';
  vkey = readFileSync(join(cli.root, 'seal', 'vkey'), 'utf8').trim();
});

afterAll(() => cli.close());

let files = 0;

function file(text: string): string {
  files += 1;
  const path = join(cli.root, `file-${files}`);
  writeFileSync(path, text);
  return path;
}

async function proofOf(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await inside(project, 'prove', id, ...args);
  expect([code, err]).toEqual([0, '']);
  return out;
}

describe('cuff prove', () => {
  it('shows the facts, and more only when it is asked to', async () => {
    const json = JSON.parse(await proofOf());
    expect(Object.keys(json)).toEqual(['cuff_proof', 'leaf', 'parts', 'proof']);
    expect(json).toMatchObject({ cuff_proof: 1, leaf: expect.stringMatching(/^cuff\/1 entry /) });
    expect(Object.keys(json.parts)).toEqual(['facts']);
    expect(JSON.stringify(json)).not.toContain('echo');
    const more = JSON.parse(await proofOf('--show', 'stdout,text, stderr'));
    expect(Object.keys(more.parts)).toEqual(['text', 'stdout', 'stderr']);
    expect(JSON.parse(more.parts.text.data).command).toBe("sh -c 'echo out; echo err >&2; exit 3'");
    expect([more.parts.stdout.data, more.parts.stderr.data]).toEqual(['out\n', 'err\n']);
  });

  it('takes an entry by its place in a session, as a search shows it', async () => {
    const { out } = await inside(project, 'record', 'search', 'echo out');
    const [, short = '', number = ''] = /^(\S+) #(\d+) /.exec(out) ?? [];
    for (const folder of [project, elsewhere]) {
      const proof = await inside(folder, 'prove', `${short}#${number}`);
      expect([proof.code, proof.out]).toEqual([0, await proofOf()]);
    }
  });

  it('makes what `cuff verify` proves, also from another project', async () => {
    const path = join(cli.root, 'shown.proof');
    const written = await inside(elsewhere, 'prove', id, '--show', 'text,stdout', '--output', path);
    expect(written).toMatchObject({ code: 0, out: '', err: `Wrote ${path}\n` });
    const { code, out } = await inside(elsewhere, 'verify', path, '--vkey', vkey);
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('  text, stdout: shown, and as sealed'),
    ]);
    expect(out).toContain('  facts, stderr: sealed, not shown\n');
    const again = await inside(project, 'prove', id, '--output', path);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('exists.')]);
  });

  it('exits 2 for a wrong call and 1 for what cannot be proven, and says which', async () => {
    const calls: [args: string[], code: number, words: string][] = [
      [[], 2, 'Which entry is to be proven?'],
      [['gone'], 2, "There is no entry 'gone'."],
      [['gone#1'], 2, "There is no entry 'gone#1'."],
      [[`${session}#9`], 2, "There is no entry '"],
      [['e_20200101_000000_001-0000'], 2, "There is no entry 'e_20200101_000000_001-0000'."],
      [[id, '--show', 'all'], 2, 'It must be of facts, text, stdout, stderr'],
      [[id, '--format', 'in-toto', '--show', 'text'], 2, '--show is for the format cuff.'],
    ];
    for (const [args, expected, words] of calls) {
      const { code, out, err } = await inside(project, 'prove', ...args);
      expect([code, out, err]).toEqual([expected, '', expect.stringContaining(words)]);
    }
    const bare = join(cli.root, 'bare');
    mkdirSync(join(bare, '.git'), { recursive: true });
    const settings = file('seal: { enabled: false }\n');
    const env = { HOME: join(cli.root, 'home') };
    mkdirSync(join(env.HOME, '.config', 'cuff'), { recursive: true });
    cpSync(settings, join(env.HOME, '.config', 'cuff', 'settings.yml'));
    const words = ['run', '--journal', '--cwd', bare, '--', 'true'];
    await cli.with({ ...env, XDG_CONFIG_HOME: join(env.HOME, '.config') }, ...words);
    const directory = journalBelow(bare);
    const [other = ''] = journalSessionIds(directory);
    const unsealed = readSession(directory, other)?.entries[0]?.entry_id ?? '';
    const { code, err } = await inside(bare, 'prove', unsealed);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('has no seal: the ledger has no leaf'),
    ]);
  });
});

const noPython = lacking(spawnSync('python3', ['-c', '']).status !== 0, 'there is no python3 here');

function python(proof: string, key: string): { code: number | null; out: string; err: string } {
  const words = ['-I', '-S', VERIFIER, file(proof), key];
  const { status, stdout, stderr } = spawnSync('python3', words, { encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

describe('verify.py', () => {
  it('is what --verifier prints', async () => {
    const { code, out } = await inside(elsewhere, 'prove', '--verifier');
    expect([code, out]).toEqual([0, readFileSync(VERIFIER, 'utf8')]);
  });

  it.skipIf(noPython)('verifies a proof with the standard library alone', async () => {
    const proof = await proofOf('--show', 'text,stdout');
    for (const key of [vkey, file(`${vkey}\n`)]) {
      const { code, out, err } = python(proof, key);
      expect([code, err]).toEqual([0, '']);
      const lines = out.split('\n');
      expect(lines).toContain('stdout: out\\n');
      expect(lines).toContain('facts: sealed, not shown');
      expect(lines.at(-2)).toBe(`proven: signed with ${vkey}`);
    }
  });

  it.skipIf(noPython)('refuses what was changed, and names it', async () => {
    const proof = await proofOf('--show', 'stdout');
    const json = JSON.parse(proof);
    const [, index = ''] = /\nindex (\d+)\n/.exec(json.proof) ?? [];
    const other = 'cuff.local/abcdefghijklm+3d36ee89+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs';
    const lines = `${json.proof}`.split('\n');
    const own = lines.find((line) => /^\u2014 cuff\.local\/[a-z2-7]+ /.test(line)) ?? '';
    const forged = `${own.slice(0, -8)}AAAAAAA=`;
    const changes: [proof: unknown, words: string][] = [
      [
        { ...json, parts: { stdout: { ...json.parts.stdout, data: 'in\n' } } },
        'stdout is not what',
      ],
      [{ ...json, parts: { stderr: json.parts.stdout } }, 'stderr is not what was sealed'],
      [{ ...json, leaf: json.leaf.replace(' live ', ' late ') }, 'the ledger has no such line'],
      [
        { ...json, proof: json.proof.replace(`index ${index}`, 'index 1') },
        'the ledger has no such',
      ],
      [{ ...json, proof: json.proof.replace(own, forged) }, 'the key did not sign the checkpoint'],
    ];
    for (const [changed, words] of changes) {
      const { code, out } = python(JSON.stringify(changed), vkey);
      expect([code, out]).toEqual([1, expect.stringContaining(`WRONG: ${words}`)]);
      expect(out).toContain('WRONG: not proven\n');
    }
    expect(python(proof, other)).toMatchObject({
      code: 1,
      out: expect.stringContaining('WRONG: the key did not sign the checkpoint'),
    });
    for (const [text, key] of [
      ['{}', vkey],
      ['[', vkey],
      [`${'['.repeat(100_000)}`, vkey],
      [proof, 'no key'],
      [proof, vkey.replace('+A', '+B')],
    ] as const) {
      const { code, out, err } = python(text, key);
      expect([code, out]).toEqual([2, '']);
      expect(err).not.toContain('Traceback');
    }
  });

  it.skipIf(noPython)('proves what cuff proves, whichever byte of a proof is another', async () => {
    const proof = (await proofOf('--show', 'facts,stdout')).trimEnd();
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 127 }), async (at, flip) => {
        const bytes = Buffer.from(proof);
        const place = at % bytes.length;
        bytes[place] = (bytes[place] ?? 0) ^ flip;
        const changed = bytes.toString('utf8');
        const theirs = python(changed, vkey);
        expect(theirs.err).not.toContain('Traceback');
        const ours = await inside(project, 'verify', file(changed), '--vkey', vkey);
        expect(theirs.code === 0, JSON.stringify([theirs, ours])).toBe(ours.code === 0);
      }),
      { numRuns: process.env.CUFF_LONG === '1' ? 200 : 12 },
    );
  });
});

const goRoot = spawnSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).stdout?.trim() ?? '';
const vendored = join(goRoot, 'src/cmd/vendor/golang.org/x');
const noGo = lacking(
  goRoot === '' || !existsSync(join(vendored, 'mod/sumdb/note')),
  'there is no Go with its sources here',
);

describe("Go's sumdb/note and sumdb/tlog", () => {
  let program = '';

  beforeAll(() => {
    if (noGo) return;
    // The packages as Go itself has them: nothing is fetched.
    const path = join(cli.root, 'go');
    for (const name of ['mod/sumdb', 'crypto'].filter((one) => existsSync(join(vendored, one)))) {
      cpSync(join(vendored, name), join(path, 'src/golang.org/x', name), { recursive: true });
    }
    program = join(path, 'verify');
    const source = join(import.meta.dirname, '../fixtures/verify.go');
    const cache = process.env.GOCACHE ?? join(path, 'cache');
    const env = { ...process.env, GOPATH: path, GO111MODULE: 'off', GOFLAGS: '', GOCACHE: cache };
    const built = spawnSync('go', ['build', '-o', program, source], { env, encoding: 'utf8' });
    expect([built.status, built.stderr]).toEqual([0, '']);
  });

  it.skipIf(noGo)('verify the same proof, and refuse it with another leaf or key', async () => {
    const { leaf, proof } = JSON.parse(await proofOf());
    const run = (...args: readonly string[]): unknown[] => {
      const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' });
      return [status, stdout];
    };
    const [, index] = /\nindex (\d+)\n/.exec(proof) ?? [];
    const [, size] = /\n\n[^\n]+\n(\d+)\n/.exec(proof) ?? [];
    expect(run(leaf, proof, vkey)).toEqual([0, `${index} ${size}\n`]);
    expect(run(leaf.replace(' live ', ' late '), proof, vkey)).toEqual([
      1,
      expect.stringContaining('invalid transparency proof'),
    ]);
    const moved = proof.replace(`\n${size}\n`, `\n${Number(size) + 1}\n`);
    expect(run(leaf, moved, vkey)).toEqual([1, expect.stringContaining('invalid signature')]);
  });
});

const noOpenssl = lacking(
  !/^OpenSSL [3-9]/.test(spawnSync('openssl', ['version'], { encoding: 'utf8' }).stdout ?? ''),
  'there is no openssl 3 here',
);

describe('openssl', () => {
  it.skipIf(noOpenssl)('verifies the envelope of an in-toto attestation', async () => {
    const { payloadType, payload, signatures } = JSON.parse(await proofOf('--format', 'in-toto'));
    const [name = '', keyId = '', ...rest] = vkey.split('+');
    const [{ keyid, sig }] = signatures;
    expect(keyid).toBe(`${name}+${keyId}`);
    const body = Buffer.from(payload, 'base64').toString();
    expect(JSON.parse(body).predicate).toMatchObject({
      command: ["sh -c 'echo out; echo err >&2; exit 3'"],
      byproducts: { 'return-value': 3 },
    });
    const der = Buffer.from('302a300506032b6570032100', 'hex'); // RFC 8410
    const raw = Buffer.from(rest.join('+'), 'base64').subarray(1);
    const pem = Buffer.concat([der, raw]).toString('base64');
    const key = file(`-----BEGIN PUBLIC KEY-----\n${pem}\n-----END PUBLIC KEY-----\n`);
    const signature = join(cli.root, 'signature');
    writeFileSync(signature, Buffer.from(sig, 'base64'));
    const verified = (text: string): number | null => {
      const signed = file(`DSSEv1 ${payloadType.length} ${payloadType} ${text.length} ${text}`);
      const words = ['pkeyutl', '-verify', '-pubin', '-inkey', key, '-rawin', '-in', signed];
      return spawnSync('openssl', [...words, '-sigfile', signature]).status;
    };
    expect([verified(body), verified(body.replace('3', '4'))]).toEqual([0, 1]);
  });
});
