// All profiles, packed: making the tables of some 700 programs takes longer than judging a command,
// and a command needs few of them. The build puts the finished texts in the place of this file
// (scripts/build.mjs), each behind a function that V8 compiles when a command asks for its family.

import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type Table, type TestedTable, tableOf } from './records.ts';

const DIRECTORY = new URL('../programs/', import.meta.url);

let read: TestedTable | undefined;

function table(): TestedTable {
  if (read !== undefined) return read;
  const names = readdirSync(DIRECTORY);
  const data = names.map((name): [string, Record<string, unknown>] => {
    return [name, parse(readFileSync(new URL(name, DIRECTORY), 'utf8'))];
  });
  read = tableOf(Object.fromEntries(data));
  return read;
}

/** Read with the first program that is asked for. */
export const TABLE: Table = {
  get families() {
    return table().families;
  },
  get facts() {
    return table().facts;
  },
  get lists() {
    return table().lists;
  },
  get modules() {
    return table().modules;
  },
};
