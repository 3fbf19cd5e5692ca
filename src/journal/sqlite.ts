// One small face for two SQLites: Node's own (`node:sqlite`, where it needs no flag), else the
// optional package `libsql`. Both answer alike: rows are plain objects of numbers, strings and null
// (they differ in how they give bytes, so none are asked for), and errors say whether another
// process was in the way or the file is damaged.
import { createRequire } from 'node:module';

export type Value = number | string | Uint8Array | null;

export type Row = Readonly<Record<string, Value>>;

export type Database = {
  exec(sql: string): void;
  /** All rows; a statement is compiled once and kept. */
  all(sql: string, ...values: readonly Value[]): Row[];
  /** How many rows it changed. */
  run(sql: string, ...values: readonly Value[]): number;
  close(): void;
};

/** Opens a file, which is made when there is none. Throws what the library throws. */
export type Sqlite = { readonly name: 'node:sqlite' | 'libsql'; open(path: string): Database };

/** Undefined when this Node has neither. */
export function loadSqlite(): Sqlite | undefined {
  return loadNodeSqlite() ?? loadLibsql();
}

type NodeStatement = {
  all(...values: readonly Value[]): Row[];
  run(...values: readonly Value[]): { readonly changes: number | bigint };
};
type NodeDatabase = {
  exec(sql: string): void;
  prepare(sql: string): NodeStatement;
  close(): void;
};
type NodeModule = { readonly DatabaseSync: new (path: string) => NodeDatabase };

export function loadNodeSqlite(): Sqlite | undefined {
  const module = quietly(() => process.getBuiltinModule?.('node:sqlite')) as NodeModule | undefined;
  if (module === undefined) return undefined;
  const open = (path: string): Database => {
    const database = new module.DatabaseSync(path);
    const statement = remembered((sql) => database.prepare(sql));
    return {
      exec: (sql) => database.exec(sql),
      all: (sql, ...values) => statement(sql).all(...values),
      run: (sql, ...values) => Number(statement(sql).run(...values).changes),
      close: () => database.close(),
    };
  };
  return hasFullText(open) ? { name: 'node:sqlite', open } : undefined;
}

/** The first versions of Node that have it were built without what we search with. */
function hasFullText(open: Sqlite['open']): boolean {
  try {
    const database = open(':memory:');
    database.exec("CREATE VIRTUAL TABLE t USING fts5(x, content='', tokenize='trigram')");
    database.close();
    return true;
  } catch {
    return false; // no such module, or no such tokenizer
  }
}

/** Loading it prints a warning that it is experimental, which is no use to our callers. */
function quietly<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

type LibsqlStatement = {
  all(values: readonly Value[]): Row[];
  run(values: readonly Value[]): { readonly changes: number };
};
type LibsqlDatabase = {
  exec(sql: string): void;
  prepare(sql: string): LibsqlStatement;
  close(): void;
};
type LibsqlModule = new (path: string) => LibsqlDatabase;

export function loadLibsql(): Sqlite | undefined {
  let Module: LibsqlModule;
  try {
    Module = createRequire(import.meta.url)('libsql') as LibsqlModule;
  } catch {
    return undefined; // optional: not installed, or not built for this machine
  }
  const open = (path: string): Database => {
    const database = new Module(path);
    const statement = remembered((sql) => database.prepare(sql));
    return {
      exec: (sql) => database.exec(sql),
      all: (sql, ...values) => statement(sql).all(values),
      run: (sql, ...values) => statement(sql).run(values).changes,
      close: () => database.close(),
    };
  };
  return { name: 'libsql', open };
}

function remembered<T>(prepare: (sql: string) => T): (sql: string) => T {
  const known = new Map<string, T>();
  return (sql) => {
    const one = known.get(sql) ?? prepare(sql);
    known.set(sql, one);
    return one;
  };
}

const [BUSY, LOCKED, CORRUPT, NOT_A_DATABASE, ERROR] = [5, 6, 11, 26, 1];

/**
 * `busy`: another process writes, try again later. `damaged`: the file is not what we made.
 * `other`: a full disk, a missing permission.
 */
export function troubleOf(error: unknown): 'busy' | 'damaged' | 'other' {
  const { errcode, rawCode } = error as { errcode?: unknown; rawCode?: unknown };
  const code = Number(errcode ?? rawCode) & 0xff;
  if (code === BUSY || code === LOCKED) return 'busy';
  return code === CORRUPT || code === NOT_A_DATABASE || code === ERROR ? 'damaged' : 'other';
}
