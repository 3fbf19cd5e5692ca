// The rail beside a session: drawn, because there may be ten thousand bars. Everything it does the
// keys do too, so that it is a picture for those who do not see it.
import { useEffect, useRef } from 'preact/hooks';
import { minimap, type OutlineEntry, sequenceAt } from '../core/minimap.ts';
import { manyText } from '../core/words.ts';

type Props = {
  readonly entries: readonly OutlineEntry[];
  readonly current: number | undefined;
  readonly onPick: (sequence: number) => void;
};

export function Minimap({ entries, current, onPick }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const draw = () => drawBars(element, entries, current);
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', draw);
    };
  }, [entries, current]);
  const picked = (event: MouseEvent) => {
    const element = canvas.current;
    if (element === null) return;
    const sequence = sequenceAt(minimap(entries, element.clientHeight), event.offsetY);
    if (sequence !== undefined) onPick(sequence);
  };
  const bad = entries.filter(([, , , outcome]) => outcome !== 'ok').length;
  const count = manyText(entries.length, 'command');
  const words = `${count}, ${bad} not ok; ] and [ move, e finds failures`;
  return (
    <div class="rail">
      <canvas ref={canvas} role="img" aria-label={words} title={words} onClick={picked} />
    </div>
  );
}

function drawBars(
  element: HTMLCanvasElement,
  entries: readonly OutlineEntry[],
  current: number | undefined,
): void {
  const { clientWidth: width, clientHeight: height } = element;
  const scale = devicePixelRatio;
  element.width = width * scale;
  element.height = height * scale;
  const pen = element.getContext('2d');
  if (pen === null) return;
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--${name}`);
  pen.scale(scale, scale);
  pen.fillStyle = colour('raised');
  pen.fillRect(0, 0, width, height);
  const bars = minimap(entries, height);
  // What went well first: where bars are thinner than a pixel, the others are seen.
  for (const good of [true, false]) {
    for (const bar of bars.filter(({ kind }) => (kind === 'ok') === good)) {
      if (bar.kind === 'pause') {
        pen.fillStyle = colour('quiet');
        for (let x = 4; x < width - 4; x += 5) pen.fillRect(x, bar.top + bar.height / 2, 2, 1);
        continue;
      }
      pen.fillStyle =
        colour(bar.kind === 'timed_out' ? 'late' : bar.kind).trim() || colour('quiet');
      const left = bar.kind === 'ok' ? 12 : 6;
      const gap = bar.height > 3 ? 1 : 0;
      pen.fillRect(left, bar.top, width - 2 * left, Math.max(1, bar.height - gap));
    }
  }
  const here = bars.find(({ sequence, kind }) => sequence === current && kind !== 'pause');
  if (here === undefined) return;
  pen.strokeStyle = colour('focus');
  pen.lineWidth = 2;
  pen.strokeRect(2, here.top, width - 4, Math.max(3, here.height));
}
