// The working directory is checked before every run: it may have gone since the last one.

import { statSync } from 'node:fs';
import { AppError, errnoOf } from '../errors.ts';
import { leadsToRemote } from './mounts.ts';

export function assertWorkingDirectory(dir: string): void {
  // On a mount that no longer answers we would wait for ever. The runner finds out, and can wait.
  if (leadsToRemote(dir)) return;
  try {
    if (statSync(dir).isDirectory()) return;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new AppError('cwd_missing', `Working directory does not exist: ${dir}`, {
        hint: 'Create it, or pass another working directory.',
      });
    }
    throw new AppError('cwd_missing', `Working directory cannot be used: ${dir} (${code})`, {
      cause: error,
      hint: 'Check its permissions, or pass another working directory.',
    });
  }
  throw new AppError('cwd_not_directory', `Working directory is not a directory: ${dir}`, {
    hint: 'Pass the directory that holds it.',
  });
}
