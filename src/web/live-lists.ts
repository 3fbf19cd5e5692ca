// Lists that change while a page shows them: sessions, live runs, pending questions. They are
// looked at once for all tabs, and only as long as one of them wants to know.

import type { ServerMessage } from './api.ts';
import { questionsJson } from './question-json.ts';
import type { TableRow } from './session-table.ts';
import { rowJson } from './sessions.ts';
import type { Ui } from './ui.ts';

export const LIST_NAMES = ['sessions', 'runs', 'questions'] as const;
export type ListName = (typeof LIST_NAMES)[number];

type Listener = (message: ServerMessage) => void;

const EVERY_MS = 1_000; // what no watch tells
const GATHER_MS = 150; // changes that come together are told together
const ROWS_MAX = 500; // more have changed: a page that shows a part of them asks for it again

export class LiveLists {
  readonly #ui: Ui;
  readonly #listeners: Readonly<Record<ListName, Set<Listener>>> = {
    sessions: new Set(),
    runs: new Set(),
    questions: new Set(),
  };
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #looking = false;
  readonly #unlisten: () => void;
  #rows: readonly TableRow[] = [];
  #runs = '';
  #questions = '';

  constructor(ui: Ui) {
    this.#ui = ui;
    this.#unlisten = ui.lists.table.onChange(() => this.#touched());
  }

  /** Tells the list as it is now, but for sessions, which a page asks for by itself. */
  add(name: ListName, listener: Listener): () => void {
    if (name === 'sessions' && this.#listeners.sessions.size === 0) {
      this.#rows = this.#ui.lists.table.rows();
    }
    this.#listeners[name].add(listener);
    this.#timer ??= setInterval(() => this.#look(), EVERY_MS).unref();
    if (name === 'runs') this.#tellRuns(listener);
    if (name === 'questions') listener({ type: 'questions', questions: this.#questionsNow() });
    return () => this.#remove(name, listener);
  }

  close(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#unlisten();
  }

  #remove(name: ListName, listener: Listener): void {
    this.#listeners[name].delete(listener);
    if (Object.values(this.#listeners).some(({ size }) => size > 0)) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #touched(): void {
    if (this.#listeners.sessions.size === 0) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#lookAtSessions();
    }, GATHER_MS).unref();
  }

  #look(): void {
    this.#lookAtSessions();
    if (this.#listeners.questions.size > 0) {
      const questions = this.#questionsNow();
      const text = JSON.stringify(questions);
      if (text !== this.#questions) this.#tell('questions', { type: 'questions', questions });
      this.#questions = text;
    }
    if (this.#listeners.runs.size > 0) this.#lookAtRuns();
  }

  #lookAtSessions(): void {
    if (this.#listeners.sessions.size === 0) return;
    const [before, now] = [this.#rows, this.#ui.lists.table.rows()];
    if (before === now) return;
    this.#rows = now;
    const known = new Map(before.map((row) => [nameOf(row), row.session]));
    const rows = now.filter((row) => isOther(known.get(nameOf(row)), row.session));
    const there = new Set(now.map(nameOf));
    const gone = before.filter((row) => !there.has(nameOf(row)));
    if (rows.length + gone.length === 0) return;
    this.#tell('sessions', {
      type: 'sessions',
      rows: rows.slice(0, ROWS_MAX).map((row) => rowJson(this.#ui.lists, row)),
      gone: gone.map(({ session }) => session.session_id),
    });
  }

  /** One look at a time: it may take longer than until the next. */
  #lookAtRuns(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#ui.runs
      .now()
      .then((runs) => {
        const text = JSON.stringify(runs.map(steady));
        if (text !== this.#runs) this.#tell('runs', { type: 'runs', runs });
        this.#runs = text;
      })
      .catch(() => undefined) // a state root that cannot be read now may be later
      .finally(() => {
        this.#looking = false;
      });
  }

  #tellRuns(listener: Listener): void {
    this.#ui.runs.now().then(
      (runs) => listener({ type: 'runs', runs }),
      () => listener({ type: 'runs', runs: [] }),
    );
  }

  #questionsNow() {
    return questionsJson(this.#ui.env);
  }

  #tell(name: ListName, message: ServerMessage): void {
    for (const listener of this.#listeners[name]) listener(message);
  }
}

function nameOf({ journal, session }: TableRow): string {
  return `${journal.directory}\0${session.session_id}`;
}

function isOther(before: TableRow['session'] | undefined, now: TableRow['session']): boolean {
  return before !== now && JSON.stringify(before) !== JSON.stringify(now);
}

/** Without what is another number at every look. */
function steady(run: Awaited<ReturnType<Ui['runs']['now']>>[number]): unknown {
  const { output_bytes: _, processes, ...rest } = run;
  return { ...rest, processes: processes.map(({ pid, command }) => [pid, command]) };
}
