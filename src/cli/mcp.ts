// `cuff mcp` and `derun mcp`: serve plugins until the client leaves or a signal stops the server.
// stdout belongs to the protocol. Everything is loaded when it is needed: a client waits for the
// first answer.

import type { IncomingHttpHeaders } from 'node:http';
import type { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { AppError, errnoOf, isAppError, reasonOf } from '../errors.ts';
import type { Host, HostOptions } from '../host/host.ts';
import type { Services } from '../host/plugin.ts';
import type { LoadOptions, Settings } from '../host/settings.ts';
import type { HandOver } from '../mcp/front.ts';
import type { ServerHandle } from '../mcp/server.ts';
import type { PolicyEngine } from '../policies/engine.ts';
import type { Shell, ShellOptions } from '../shell/shell.ts';
import { printable } from '../text/printable.ts';
import type { Log } from '../types.ts';
import { examples } from './help.ts';
import type { ReadyFront } from './mcp-front.ts';
import { type Tokens, takeTokens } from './mcp-tokens.ts';
import { say } from './output.ts';
import { type StopSignal, stopSignal } from './stop-signal.ts';

type Options = {
  readonly http?: string;
  readonly settings?: string;
  readonly metricsPort?: string;
  readonly dialect?: string;
  readonly askTimeout?: string;
  readonly trust?: boolean;
};

// Runs that are ended with the server have their own grace; more than that is a hang.
const CLOSE_MS = 20_000;

const ASK_SECONDS_MAX = 3600; // a question from an hour ago is not understood any more

// Some clients wait less than a second for the tools. Those of a slower module are told of later.
const MODULES_MS = 500;

const HTTP_EXAMPLE = 'CUFF_HTTP_TOKEN=... cuff mcp --http 8931';

/** `front` answers the client until the server is loaded. */
export function addMcpCommand(program: Command, front?: ReadyFront): void {
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
    .option(
      '--ask-timeout <seconds>',
      'how long a person has to answer a question (default: 40); less than the client waits',
    )
    .option('--trust', 'the settings and the policy of this project count, for this server')
    .option('--metrics-port <port>', 'serve /metrics and /health on 127.0.0.1')
    .addHelpText('after', examples('cuff mcp', 'cuff mcp --dialect codex', HTTP_EXAMPLE))
    .action((options: Options) => cuffMcp(options, front));
}

async function cuffMcp(options: Options, front: ReadyFront | undefined): Promise<void> {
  const ports = {
    http: port('--http', options.http),
    metrics: port('--metrics-port', options.metricsPort),
  };
  const askMs = askTimeout(options.askTimeout);
  const listens = ports.http !== undefined || ports.metrics !== undefined;
  const tokens = takeTokens(process.env, listens);
  const stop = stopSignal();
  const output = ports.http === undefined ? takeStdout() : undefined;
  const [{ BUILTINS, SHELLS }, { SettingsWatch }, { openPolicy }, house] = await Promise.all([
    import('../dialects/builtins.ts'),
    import('../host/settings-watch.ts'),
    import('../policies/engine.ts'),
    import('../shell/shell.ts').then(({ createShell }) => openServices(createShell)),
  ]);
  const { env, log, projectDirectory: cwd, stateRoot } = house;
  const { settings: settingsFile } = options;
  const { trust: trusted } = options;
  const where = { project: cwd, env, stateRoot, log, settingsFile, halts: true, trusted };
  const policy = await openPolicy(where);
  const services = { ...house, policy };
  const file = options.settings === undefined ? {} : { file: options.settings };
  const shells = { names: SHELLS, chosen: dialectNamed(options.dialect, SHELLS) };
  const load = { cwd, env, builtins: BUILTINS, shells, running: true, trusted, ...file };
  const remember = remembering(log);
  const { host, settings, seen } = await startHost(load, services, remember);
  for (const notice of host.notices()) log('warn', notice);
  try {
    if (ports.metrics !== undefined) await openMetrics(ports.metrics, host, tokens);
    const served =
      output === undefined
        ? await overHttp(host, ports.http ?? 0, tokens, { log, askMs })
        : await overStdio('cuff', host, output, { log, askMs, before: front?.handOver() });
    const needed = output === undefined || (ports.metrics !== undefined && !tokens.reading);
    if (needed && tokens.made) say(`cuff: the token is ${tokens.all}`);
    const taken = (): void => policy.haltFor(undefined);
    if (seen === settings) await keepReady(front, host, remember);
    new SettingsWatch({ ...load, host, settings, seen, taken, log });
    await untilStopped(host, served, services, stop);
  } catch (error) {
    await host.close(); // what it has begun must not look like a crash
    throw error;
  }
}

/**
 * A server that ends because of a wrong file takes its tools away from the agent, which then uses a
 * shell of its own that nothing records. With wrong settings it lists its tools and runs nothing.
 */
async function startHost(
  load: LoadOptions,
  services: Services & { policy: PolicyEngine },
  remember: Remember,
) {
  const [{ createHost }, fallback] = await Promise.all([
    import('../host/host.ts'),
    import('../host/settings-fallback.ts'),
  ]);
  const { stateRoot, policy } = services;
  const { builtins } = load;
  const until = performance.now() + MODULES_MS;
  const modulesLeft = (): number => Math.max(0, until - performance.now());
  const hurried = { ...load, modulesMs: modulesLeft() };
  const { settings, problem } = await fallback.settingsForStart(hurried, stateRoot);
  const started = async (settings: Settings, problem: string | undefined) => {
    policy.haltFor(problem);
    const limits = { modulesMs: modulesLeft() };
    const host = await createHost({ settings, builtins, services, limits });
    if (problem === undefined) remember(() => fallback.rememberSettings(settings, load, stateRoot));
    else tellOfSettings(host, problem, services);
    return { host, settings };
  };
  try {
    const seen = problem === undefined ? settings : undefined;
    return { ...(await started(settings, problem)), seen };
  } catch (error) {
    // Two plugins that claim one name: seen only when both have started.
    if (problem !== undefined || !isAppError(error) || error.code !== 'settings_invalid')
      throw error;
    const standIn = fallback.fallbackSettings(load, stateRoot);
    return { ...(await started(standIn, error.message)), seen: settings };
  }
}

/** So that the next start with the same files can answer before the server is loaded. */
async function keepReady(
  front: ReadyFront | undefined,
  host: Host,
  remember: Remember,
): Promise<void> {
  const key = front?.key;
  if (key === undefined || key === 'shipped' || (await front?.keyNow()) !== key) return;
  const [{ answersOf }, { keepAnswers }] = await Promise.all([
    import('../mcp/server.ts'),
    import('../mcp/ready.ts'),
  ]);
  remember(() => keepAnswers(key, answersOf(host.tools(), [host.brief(), ...host.notices()])));
}

/** Runs `keep`, which stores something for the next start. */
type Remember = (keep: () => void) => void;

/** A failure only makes every start slow; the log says so once. */
function remembering(log: Services['log']): Remember {
  let told = false;
  return (keep) => {
    try {
      keep();
    } catch (error) {
      if (!told) log('warn', 'Nothing can be kept for the next start', { error: reasonOf(error) });
      told = true;
    }
  };
}

function tellOfSettings(host: Host, problem: string, { log }: Services): void {
  host.noteSettings(problem);
  log('warn', 'Settings not taken', { error: problem });
  say(`cuff: ${problem.replaceAll('\n', '\ncuff: ')}`);
  say('cuff: nothing runs until this is corrected; the server goes on then');
}

/** Taking the last one would silently drop the tools of the first. */
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
    import('../dialects/derun/dialect.ts'),
    import('../host/host.ts'),
    openServices(),
  ]);
  const plugin = { name: 'derun', enabled: true, type: 'in_source', module: undefined, config: {} };
  const settings = { file: undefined, plugins: [plugin] } as HostOptions['settings'];
  const host = await createHost({ settings, builtins: { derun: DerunPlugin }, services });
  const served = await overStdio('derun', host, output, services);
  await untilStopped(host, served, services, stop);
}

type House = Services & { close(): void };

async function openServices(createShell?: (options: ShellOptions) => Shell): Promise<House> {
  const [{ openServerLog }, { storeOf }, { livePlaces }] = await Promise.all([
    import('../ops/server-log.ts'),
    import('../shell/captures.ts'),
    import('../packing/live.ts'),
  ]);
  const { env } = process;
  const projectDirectory = process.cwd();
  const { root: stateRoot } = storeOf(env);
  const { log, flush } = openServerLog({ stateRoot, env });
  const about = { stateRoot, cwd: projectDirectory, env };
  let shell: Shell | undefined;
  return {
    projectDirectory,
    stateRoot,
    env,
    log,
    now: Date.now,
    shell() {
      shell ??= createShell?.({ ...about, live: livePlaces({ ...about, log }) });
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

type Around = {
  readonly log: Log;
  readonly askMs?: number | undefined;
  readonly before?: HandOver | undefined;
};

async function overStdio(
  name: 'cuff' | 'derun',
  host: Host,
  output: NodeJS.WriteStream,
  { log, askMs, before }: Around,
): Promise<ServerHandle> {
  const { serveStdio } = await import('../mcp/server.ts');
  if (process.stdin.isTTY) say(`${name}: waiting for an MCP client on stdin; end with Ctrl-D`);
  const onerror = (error: Error): void => log('debug', error.message);
  const input = before?.input ?? process.stdin;
  return serveStdio(host, { name, version, askMs, onerror, input, output, before });
}

async function overHttp(
  host: Host,
  wanted: number,
  { all: token }: Tokens,
  { log, askMs }: Around,
): Promise<ServerHandle> {
  const { serveHttp } = await import('../mcp/http.ts');
  const onerror = (error: Error): void => log('debug', error.message);
  const options = { name: 'cuff', version, askMs, onerror, port: wanted, token };
  const served = await listening('--http', wanted, () => serveHttp(host, options));
  say(`cuff: serving ${served.url}`);
  return served;
}

async function openMetrics(wanted: number, host: Host, { all, reading }: Tokens): Promise<void> {
  const [{ processMetrics, serveMetrics }, { refusal }] = await Promise.all([
    import('../ops/metrics.ts'),
    import('../text/http-access.ts'),
  ]);
  const good = reading === undefined ? [all] : [all, reading];
  const sources = {
    metrics: await processMetrics(),
    health: () => host.health(),
    refuse: (headers: IncomingHttpHeaders) => refusal(headers, ...good),
  };
  const { port } = await listening('--metrics-port', wanted, () => serveMetrics(wanted, sources));
  say(`cuff: metrics at http://127.0.0.1:${port}/metrics`);
}

/** A port that cannot be used is a usage error. */
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

function askTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= ASK_SECONDS_MAX) return seconds * 1000;
  const wanted = `whole seconds from 1 to ${ASK_SECONDS_MAX}`;
  throw new AppError('usage', `--ask-timeout wants ${wanted}, not '${printable(text)}'.`);
}

/** From here on all other output, that of a plugin's console included, goes to stderr. */
function takeStdout(): NodeJS.WriteStream {
  const { stdout, stderr } = process;
  Object.defineProperty(process, 'stdout', { get: () => stderr, configurable: true });
  // A reader that left is a client that left, and messages on stderr need no reader.
  stdout.removeAllListeners('error');
  stderr.removeAllListeners('error');
  stderr.on('error', () => undefined);
  return stdout;
}

/** Plugins shut down before calls are aborted: they decide which runs go on. */
async function untilStopped(
  host: Host,
  served: ServerHandle,
  services: House,
  stop: Promise<StopSignal>,
): Promise<void> {
  // At once, not when answers were given: clients kill a server soon after they ask it to end.
  void served.hungUp.then(() => host.stopping('client'));
  void stop.then((signal) => host.stopping(signal === 'SIGTERM' ? 'signal' : 'client'));
  const { sweepRegularly } = await import('../mcp/retention.ts');
  const { storeOf } = await import('../shell/captures.ts');
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
