// `cuff policy lint`: errors in policy files, and warnings about rules that probably do not mean
// what they say. Exit 0 fine, 1 when a file is no policy or, with --strict, has warnings, 2 when a
// file cannot be read.

import { AppError } from '../../errors.ts';
import { type LintedFile, lintFile, lintJson, policyFilesAt } from '../../policies/check.ts';
import { printable } from '../../text/printable.ts';
import { paint, put, putJson } from '../output.ts';

export type LintFlags = { readonly strict?: boolean; readonly json?: boolean };

export async function lintPolicies(files: readonly string[], flags: LintFlags): Promise<void> {
  const { env } = process;
  const named = files.length > 0 ? files : policyFilesAt(process.cwd(), env);
  if (named.length === 0) {
    throw new AppError('usage', 'No policy applies here.', {
      hint: 'Name a file: cuff policy lint policy.yml.',
    });
  }
  const linted = named.map((file) => lintFile(file, { env }));
  const warnings = linted.reduce((sum, { lint }) => sum + countOf(lint), 0);
  const invalid = linted.some(({ lint }) => lint.kind === 'invalid');
  if (invalid || (flags.strict === true && warnings > 0)) process.exitCode = 1;
  if (flags.json === true)
    return putJson({ files: linted.map(({ file, lint }) => ({ file, ...lintJson(lint) })) });
  const lines = linted.flatMap(lintLines);
  const none = `${named.map(printable).join(', ')}: nothing to say.`;
  await put(`${lines.length === 0 ? none : lines.join('\n')}\n`);
}

function countOf(lint: LintedFile['lint']): number {
  return lint.kind === 'valid' ? lint.warnings.length : 0;
}

function lintLines({ file, lint }: LintedFile): readonly string[] {
  const place = ({ line, column }: { readonly line: number; readonly column: number }): string =>
    `${printable(file)}:${line}:${column}`;
  if (lint.kind === 'invalid') {
    return lint.problems.map((one) => {
      return `${place(one)}: ${paint('red', 'error')}: ${printable(one.message)}`;
    });
  }
  return lint.warnings.map((one) => {
    const hint = one.hint === undefined ? '' : ` ${one.hint}`;
    const words = printable(`${one.message}${hint}`);
    return `${place(one)}: ${paint('yellow', 'warning')}: ${words} (${one.code})`;
  });
}
