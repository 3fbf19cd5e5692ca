// Files below /dev that are better not written to, by the names that Linux gives them.

import { posix } from 'node:path';
import type { Word } from '../text/shell-parse.ts';

/** Disks, their partitions, and what is put together of them (RAID, LVM, encrypted ones). */
const DISK = new RegExp(
  String.raw`^/dev/(?:(?:sd|hd|vd|xvd)[a-z]{1,2}\d*|nvme\d+(?:n\d+(?:p\d+)?)?` +
    String.raw`|(?:mmcblk|md|nbd|pmem|bcache|drbd)\d+(?:p\d+)?|dm-\d+` +
    '|(?:md|mapper|disk/[^/]+|block)/.+)$',
);
/** What such a name begins with, when the rest is only known at run time: `/dev/sd$x`. */
const DISK_BEGINNING =
  /^\/dev\/(?:(?:sd|hd|vd|xvd|nvme|mmcblk|md|dm-)[a-z0-9]*|(?:md|mapper|disk|block)\/.*)$/;
/** The one file there that is no disk. */
const MAPPER_CONTROL = '/dev/mapper/control';

export function isDisk({ literal, pieces }: Word): boolean {
  if (literal !== undefined) return isDiskPath(slashed(literal));
  const [first] = pieces;
  return first?.kind === 'text' && DISK_BEGINNING.test(slashed(first.value));
}

function isDiskPath(path: string): boolean {
  return DISK.test(path) && path !== MAPPER_CONTROL;
}

/** Terminals and serial lines, what takes everything and keeps nothing, and what is no device. */
const HARMLESS =
  /^\/dev\/(?:null|zero|full|u?random|tty\w*|std(?:in|out|err)|(?:fd|shm|pts|mqueue)\/.*)$/;

/** Whether a path, of which this is all or the beginning, is one of the other devices. */
export function isDevice(path: string): boolean {
  const plain = slashed(path);
  return (plain === '/dev' ? '/dev/' : plain).startsWith('/dev/') && !HARMLESS.test(plain);
}

/** Whether a word may name a device: also from another directory, and when its text is unknown. */
export function mayNameDevice({ literal }: Word): boolean {
  if (literal === undefined || /[=,]\/+dev\//.test(literal)) return true;
  const path = posix.normalize(literal);
  return /^(?:\/+|(?:\.\.\/)+)dev(?:\/|$)/.test(path) || isDiskPath(`/dev/${path}`);
}

function slashed(path: string): string {
  return posix.normalize(path).replace(/^\/+/, '/');
}
