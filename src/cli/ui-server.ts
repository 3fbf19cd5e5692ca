// `cuff ui` at work: which port, who opens the page, and until when. The server ends with the
// terminal it was started in, and its tokens with it.

import packageJson from '../../package.json' with { type: 'json' };
import { stateRoot } from '../capture/paths.ts';
import { AppError, errnoOf } from '../errors.ts';
import { agentSentence } from '../trust/person.ts';
import { keepPort, keptPort } from '../web/kept-port.ts';
import { serveUi, type UiOptions, type UiServer } from '../web/server.ts';
import { openBrowser } from './browser.ts';
import { journalHere } from './journal-here.ts';
import { put, say } from './output.ts';
import { journalSettings } from './record/record-settings.ts';
import { stopSignal } from './stop-signal.ts';

export type UiFlags = {
  readonly port?: number;
  readonly open: boolean;
  readonly readOnly?: boolean;
};

export async function ui(flags: UiFlags): Promise<void> {
  const { env } = process;
  const journal = await journalHere();
  const readOnly = whyReadOnly(flags, env);
  const server = await started(flags, {
    env,
    cwd: process.cwd(),
    version: packageJson.version,
    journal,
    readOnly,
    retentionDays: await retention(env),
    log: (level, message) => {
      if (level === 'error') say(`cuff: ${message}`);
    },
  });
  if (readOnly !== undefined) say(`Nothing can be changed from the page. ${readOnly}`);
  let remove = await show(server, flags.open);
  server.onTraded(() => remove());
  newLinks(server, () => remove());
  await stopSignal();
  remove();
  remove = () => undefined;
  await server.close();
}

function whyReadOnly({ readOnly }: UiFlags, env: NodeJS.ProcessEnv): string | undefined {
  if (readOnly === true) return 'It was started with --read-only.';
  if (env.CI === 'true' || env.CI === '1') return 'It was started in CI.';
  return agentSentence(env);
}

/** At the port that was asked for; else at that of the last time, and at a free one. */
async function started({ port }: UiFlags, options: Omit<UiOptions, 'port'>): Promise<UiServer> {
  const root = stateRoot(options.env);
  if (port !== undefined) {
    const server = await tryPort(port, options);
    if (server !== undefined) return server;
    const other = keptPort(root);
    const whose = other?.port === port && other.pid !== undefined ? ` by process ${other.pid}` : '';
    throw new AppError('usage', `Port ${port} is taken${whose}.`, {
      hint: 'Name another with --port, or none.',
    });
  }
  const kept = keptPort(root);
  const again = kept === undefined ? undefined : await tryPort(kept.port, options);
  if (again === undefined && kept?.pid !== undefined) {
    say(`cuff ui runs already at http://127.0.0.1:${kept.port} (process ${kept.pid}).`);
    say('Press Enter there for a link to it; this one takes another port.');
  }
  const server = again ?? (await serveUi({ ...options, port: 0 }));
  if (again !== undefined || kept?.pid === undefined) keepPort(root, server.port);
  return server;
}

/** Undefined: it is taken. */
async function tryPort(
  port: number,
  options: Omit<UiOptions, 'port'>,
): Promise<UiServer | undefined> {
  try {
    return await serveUi({ ...options, port });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EADDRINUSE') return undefined;
    if (errno !== 'EACCES') throw error;
    throw new AppError('usage', `Port ${port} is not for this user (EACCES).`, {
      hint: 'Name one from 1024 on with --port, or none.',
      cause: error,
    });
  }
}

/** Returns what takes away what a browser was started with. */
async function show(server: UiServer, open: boolean): Promise<() => void> {
  const link = server.link();
  const opened = open ? openBrowser(link, process.env) : undefined;
  await put(`${link}\n`);
  say(
    opened === undefined
      ? 'Open it in a browser within a minute. Enter makes a new link, Ctrl-C ends the server.'
      : 'Opened in your browser. Enter makes a new link, Ctrl-C ends the server.',
  );
  return opened ?? (() => undefined);
}

/** A code is for one browser and a minute: each line that is typed makes another. */
function newLinks(server: UiServer, before: () => void): void {
  const { stdin } = process;
  if (!stdin.isTTY) return;
  stdin.on('data', () => {
    before();
    void put(`${server.link()}\n`);
  });
}

/** By the settings of each project; one whose settings are wrong keeps what the default keeps. */
async function retention(env: NodeJS.ProcessEnv): Promise<(project: string) => number> {
  const known = new Map<string, number>();
  const look = async (project: string): Promise<void> => {
    try {
      known.set(project, (await journalSettings(project, env)).retentionDays);
    } catch {
      known.set(project, RETENTION_DAYS); // `cuff doctor` and its server say what is wrong
    }
  };
  await look(process.cwd());
  return (project) => {
    const days = known.get(project);
    if (days !== undefined) return days;
    known.set(project, RETENTION_DAYS);
    void look(project);
    return RETENTION_DAYS;
  };
}

const RETENTION_DAYS = 30; // as `recording.retention_days` where nothing is said
