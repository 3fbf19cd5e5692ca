// One line of a log: its number as a link, when it was printed, where, and its text.
import { paint, raw } from '../core/ansi.ts';
import { highlight } from '../core/highlight.ts';
import type { LogLine } from '../core/lines.ts';
import { formatRoute } from '../core/route.ts';
import { bytesText, sinceText } from '../core/words.ts';
import { colours, times } from '../data/log-look.ts';
import { Painted } from './ink.tsx';

type Props = {
  readonly id: string;
  /** From 0. */
  readonly number: number;
  readonly line: LogLine | undefined;
  readonly target: boolean;
  /** What was found in it. */
  readonly find: string | undefined;
  /** stdout and stderr are told apart. */
  readonly sides: boolean;
  readonly onPick: () => void;
};

export function LineRow({ id, number, line, target, find, sides, onPick }: Props) {
  const label = String(number + 1);
  const pick = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onPick();
  };
  const error = line?.channel === 'stderr';
  const classes = [
    'log-line',
    error && 'log-stderr',
    target && 'target',
    find !== undefined && 'match',
  ];
  return (
    <div class={classes.filter(Boolean).join(' ')} data-line={label}>
      <a
        class="log-number"
        href={formatRoute({ page: 'run', id, query: { line: label } })}
        onClick={pick}
        tabIndex={-1}
      >
        {label}
      </a>
      {times.value && <span class="log-time">{line?.t == null ? '' : sinceText(line.t)}</span>}
      {sides && (
        <span class="log-channel" title={line?.channel}>
          {error ? '!' : ''}
        </span>
      )}
      <span class="log-text">{line === undefined ? '' : textOf(line, find)}</span>
    </div>
  );
}

function textOf(line: LogLine, find: string | undefined) {
  const { spans } = colours.value ? paint(line.text) : raw(line.text);
  const shown = find === undefined ? spans : highlight(spans, find);
  const columns = shown.reduce((sum, { text }) => sum + text.length, 0);
  const hidden = line.cutBytes > 0 || columns < line.text.length / 2;
  return (
    <>
      <Painted spans={shown} />
      {hidden && line.length > 8_192 && (
        <span class="quiet"> … a line of {bytesText(line.length)}, cut here</span>
      )}
    </>
  );
}
