// Anchors that are a line of text: in a file, and in the system's log.

import * as fs from 'node:fs';
import { errnoOf } from '../../errors.ts';
import { base64, fromBase64 } from '../../ledger/base64.ts';
import { parseSize } from '../../ledger/checkpoint.ts';
import { HASH_BYTES } from '../../ledger/tree.ts';
import { asString, parseObject } from '../../text/json.ts';
import { readRegular } from '../../trust/bounded-read.ts';
import {
  type AnchorPlace,
  type AnchorTools,
  AnchorTrouble,
  type OutsideHead,
  type SignedHead,
} from './place.ts';
import { callProgram, programOf } from './programs.ts';

const FILE_BYTES_MAX = 256 * 1024 * 1024;
const TAG = 'cuff-seal';
const SYSLOG = ['/run/systemd/journal/socket', '/dev/log'];

/** `TIME ORIGIN SIZE ROOT`, appended with one write. */
export const FILE: AnchorPlace = {
  async put(head, path, { now }) {
    const line = `${new Date(now()).toISOString()} ${headWords(head).join(' ')}\n`;
    try {
      appendLine(path, line);
    } catch (error) {
      throw new AnchorTrouble(`it cannot be written: ${errnoOf(error) ?? String(error)}`);
    }
    return { receipt: null };
  },
  async read(origin, path) {
    let bytes: Buffer | undefined;
    try {
      bytes = readRegular(path, FILE_BYTES_MAX);
    } catch (error) {
      throw new AnchorTrouble(errnoOf(error) ?? String(error));
    }
    if (bytes === undefined) throw new AnchorTrouble('it is no regular file that we could read');
    return bytes
      .toString('utf8')
      .split('\n')
      .flatMap((line) => {
        const [time = '', ...words] = line.split(' ');
        return headOf(origin, words, Date.parse(time));
      });
  },
};

function appendLine(path: string, line: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = fs.constants;
  const fd = fs.openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
  try {
    const bytes = Buffer.from(line);
    if (fs.writeSync(fd, bytes) < bytes.length) {
      throw Object.assign(new Error(`only a part of a line fitted into ${path}`), {
        code: 'ENOSPC',
      });
    }
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** The same user can add to it, and not rewrite it. */
export const JOURNAL: AnchorPlace = {
  async put(head, _, tools) {
    if (!hasSyslog(tools)) throw new AnchorTrouble('this system has no log that takes lines');
    await callProgram('logger', ['-t', TAG, '--', ...headWords(head)], tools);
    return { receipt: null };
  },
  async read(origin, _, tools) {
    // What the journal itself says of the writer cannot be chosen by another user.
    const mine = [`_UID=${process.getuid?.() ?? 0}`, `SYSLOG_IDENTIFIER=${TAG}`];
    const how = ['-q', '--no-pager', '-o', 'json', '--output-fields=MESSAGE'];
    const out = await callProgram('journalctl', [...how, ...mine], tools);
    return out.split('\n').flatMap((line) => {
      const json = line === '' ? undefined : parseObject(line);
      const microseconds = Number(asString(json?.__REALTIME_TIMESTAMP) ?? Number.NaN);
      const words = (asString(json?.MESSAGE) ?? '').split(' ');
      return headOf(origin, words, Math.floor(microseconds / 1000));
    });
  },
};

export function hasSyslog(tools: Pick<AnchorTools, 'env' | 'project' | 'syslog'>): boolean {
  const { syslog = SYSLOG } = tools;
  const there = syslog.some((path) => fs.statSync(path, { throwIfNoEntry: false })?.isSocket());
  return there && programOf('logger', tools) !== undefined;
}

function headWords({ origin, size, root }: SignedHead): string[] {
  return [origin, String(size), base64(root)];
}

function headOf(wanted: string, words: readonly string[], at: number): OutsideHead[] {
  const [origin, sizeText = '', rootText = '', ...more] = words;
  const [size, root] = [parseSize(sizeText), fromBase64(rootText, HASH_BYTES)];
  if (origin !== wanted || size === undefined || root === undefined || more.length > 0) return [];
  return [{ size, root, at: Number.isNaN(at) ? undefined : at }];
}
