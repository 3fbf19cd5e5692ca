// `cuff mcp` and `derun mcp`: plugins behind a protocol until the client leaves or somebody says
// stop. stdout belongs to the protocol. Everything is loaded when it is needed: a client waits for
// the first answer.

import type { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { AppError, errnoOf } from '../errors.ts';
import type { Host, HostOptions } from '../host.ts';
import type { Served } from '../mcp/server.ts';
import type { PluginLog, Services } from '../plugin.ts';
import type { Shell, ShellOptions } from '../shell.ts';
import { printable } from '../text/printable.ts';
import { say } from './output.ts';

type Options = {
  readonly http?: string;
  readonly settings?: string;
  readonly metricsPort?: string;
  readonly dialect?: string;
};

// Runs that are ended with the server have their own grace; more than that is a hang.
const CLOSE_MS = 20_000;

const EXAMPLES = `
Examples:
  cuff mcp
  cuff mcp --dialect codex
  CUFF_HTTP_TOKEN=... cuff mcp --http 8931`;

export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('give an agent the tools of the enabled plugins, over stdio')
    .option('--http <port>', 'serve Streamable HTTP on 127.0.0.1 instead; 0 takes a free port')
    .option(
      '--dialect <name>',
      'run commands with the tools of this dialect, and no other',
      onlyOne,
    )
    .option('--settings <file>', 'these settings, not the ones that would be found')
    .option('--metrics-port <port>', 'serve /metrics and /health on 127.0.0.1')
    .addHelpText('after', EXAMPLES)
    .action(cuffMcp);
}

async function cuffMcp(options: Options): Promise<void> {
  const ports = {
    http: port('--http', options.http),
    metrics: port('--metrics-port', options.metricsPort),
  };
  const token = takeToken();
  const stop = stopSignal();
  const output = ports.http === undefined ? takeStdout() : undefined;
  const [{ BUILTINS, SHELLS }, { createHost }, config, { watchSettings }, { openPolicy }, house] =
    await Promise.all([
      import('../dialects/builtins.ts'),
      import('../host.ts'),
      import('../config.ts'),
      import('../settings-watch.ts'),
      import('../policy-engine.ts'),
      import('../shell.ts').then(({ createShell }) => openServices(createShell)),
    ]);
  const { env, log, projectDirectory: cwd, stateRoot } = house;
  const { settings: settingsFile } = options;
  const policy = await openPolicy({ project: cwd, env, stateRoot, log, settingsFile });
  const services = { ...house, policy };
  const file = options.settings === undefined ? {} : { file: options.settings };
  const shells = { names: SHELLS, chosen: dialectNamed(options.dialect, SHELLS) };
  const load = { cwd, env, builtins: BUILTINS, shells, ...file };
  const settings = await config.loadSettings(load);
  const host = await createHost({ settings, builtins: BUILTINS, services });
  try {
    if (ports.metrics !== undefined) await openMetrics(ports.metrics, host);
    const served =
      output === undefined
        ? await overHttp(host, ports.http ?? 0, token, log)
        : await overStdio('cuff', host, output, log);
    watchSettings({ ...load, host, settings, log });
    await untilStopped(host, served, services, stop);
  } catch (error) {
    await host.close(); // what it has begun must not look like a crash
    throw error;
  }
}

/** Taking the last one would drop, without a word, tools that somebody asked for. */
function onlyOne(name: string, before: string | undefined): string {
  if (before === undefined || before === name) return name;
  throw new AppError('usage', `--dialect is '${printable(before)}' and '${printable(name)}'.`, {
    hint: 'Say one: a server runs commands with the tools of one dialect.',
  });
}

function dialectNamed(name: string | undefined, known: readonly string[]): string | undefined {
  if (name === undefined || known.includes(name)) return name;
  throw new AppError('usage', `There is no dialect '${printable(name)}'.`, {
    hint: `Say one of ${known.join(', ')}.`,
  });
}

/** Only derun, which only reads. Takes no settings. */
export async function derunMcp(args: readonly string[] = []): Promise<void> {
  if (args.length > 0) throw new AppError('usage', 'derun mcp takes no arguments.');
  const stop = stopSignal();
  const output = takeStdout();
  const [{ DerunPlugin }, { createHost }, services] = await Promise.all([
    import('../dialects/derun.ts'),
    import('../host.ts'),
    openServices(),
  ]);
  const plugin = { name: 'derun', enabled: true, type: 'in_source', module: undefined, config: {} };
  const settings = { file: undefined, plugins: [plugin] } as HostOptions['settings'];
  const host = await createHost({ settings, builtins: { derun: DerunPlugin }, services });
  const served = await overStdio('derun', host, output, services.log);
  await untilStopped(host, served, services, stop);
}

type House = Services & { close(): void };

async function openServices(createShell?: (options: ShellOptions) => Shell): Promise<House> {
  const [{ openServerLog }, { storeOf }] = await Promise.all([
    import('../ops/server-log.ts'),
    import('../reading.ts'),
  ]);
  const { env } = process;
  const projectDirectory = process.cwd();
  const { root: stateRoot } = storeOf(env);
  const { log, flush } = openServerLog({ stateRoot, env });
  let shell: Shell | undefined;
  return {
    projectDirectory,
    stateRoot,
    env,
    log,
    now: Date.now,
    shell() {
      shell ??= createShell?.({ stateRoot, cwd: projectDirectory, env });
      if (shell === undefined) throw new Error('this server runs no commands');
      return shell;
    },
    close() {
      shell?.close();
      flush();
    },
  };
}

const { version } = packageJson;

async function overStdio(
  name: 'cuff' | 'derun',
  host: Host,
  output: NodeJS.WriteStream,
  log: PluginLog,
): Promise<Served> {
  const { serveStdio } = await import('../mcp/server.ts');
  if (process.stdin.isTTY) say(`${name}: waiting for an MCP client on stdin; end with Ctrl-D`);
  const onerror = (error: Error): void => log('debug', error.message);
  return serveStdio(host, { name, version, onerror, input: process.stdin, output });
}

async function overHttp(
  host: Host,
  wanted: number,
  given: string | undefined,
  log: PluginLog,
): Promise<Served> {
  const [{ serveHttp }, { randomBytes }] = await Promise.all([
    import('../mcp/http.ts'),
    import('node:crypto'),
  ]);
  const token = given ?? randomBytes(32).toString('base64url');
  const onerror = (error: Error): void => log('debug', error.message);
  const options = { name: 'cuff', version, onerror, port: wanted, token };
  const served = await listening('--http', wanted, () => serveHttp(host, options));
  say(`cuff: serving ${served.url}`);
  if (given === undefined) say(`cuff: the token is ${token}`);
  return served;
}

async function openMetrics(wanted: number, host: Host): Promise<void> {
  const { processMetrics, serveMetrics } = await import('../ops/metrics.ts');
  const sources = { metrics: await processMetrics(), health: () => host.health() };
  const { port } = await listening('--metrics-port', wanted, () => serveMetrics(wanted, sources));
  say(`cuff: metrics at http://127.0.0.1:${port}/metrics`);
}

/** A port that cannot be had is a wrong call. */
async function listening<T>(flag: string, wanted: number, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    throw new AppError('usage', `${flag} ${wanted} cannot be used: ${errno}.`);
  }
}

function port(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new AppError('usage', `${flag} wants a port from 0 to 65535, not '${text}'.`);
}

/** Commands that are run for a client must not find its key. */
function takeToken(): string | undefined {
  const token = process.env.CUFF_HTTP_TOKEN;
  delete process.env.CUFF_HTTP_TOKEN;
  return token === '' ? undefined : token;
}

/** From here on whatever else prints, a plugin's console included, prints on stderr. */
function takeStdout(): NodeJS.WriteStream {
  const { stdout, stderr } = process;
  Object.defineProperty(process, 'stdout', { get: () => stderr, configurable: true });
  // A reader that left is a client that left, and nobody has to read what we say on stderr.
  stdout.removeAllListeners('error');
  stderr.removeAllListeners('error');
  stderr.on('error', () => undefined);
  return stdout;
}

/** Plugins end their work before their calls are given up: what they leave running is theirs. */
async function untilStopped(
  host: Host,
  served: Served,
  services: House,
  stop: Promise<void>,
): Promise<void> {
  const { sweepRegularly } = await import('../mcp/retention.ts');
  const { storeOf } = await import('../reading.ts');
  const stopSweeping = sweepRegularly(storeOf(services.env), (error) =>
    services.log('warn', 'The sweep failed', { error: error.message }),
  );
  await Promise.race([served.gone, stop]);
  stopSweeping();
  setTimeout(() => process.exit(1), CLOSE_MS).unref();
  await host.close();
  await served.close();
  services.close();
  process.exit(0);
}

/** The first asks to stop; a second one does not wait. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1);
        asked = true;
        resolve();
      });
    }
  });
}
