// A small plot of bars: loaded with its library when a page has one. What it shows stands in a
// table beside it, for those who cannot see a canvas.
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { clockText, dayOf } from '../core/words.ts';

export type PlotSeries = {
  readonly name: string;
  /** A colour of the page: `ok`, `failed`, ... */
  readonly colour: string;
  readonly values: readonly number[];
};

type Props = {
  readonly label: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  /** Stacked, the first at the bottom. */
  readonly series: readonly PlotSeries[];
  readonly bucketSeconds: number;
  readonly text: (value: number) => string;
};

const HEIGHT = 190;

export function Plot({ label, times, series, bucketSeconds, text }: Props) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let plot: uPlot | undefined;
    let left = false;
    const draw = async () => {
      const { default: Plotter } = await import('uplot');
      if (left) return;
      plot?.destroy();
      const options = optionsOf({ element, series, bucketSeconds, text, Plotter });
      plot = new Plotter(options, [[...times], ...stacked(series)], element);
    };
    void draw();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const again = () => void draw();
    dark.addEventListener('change', again);
    const observer = new ResizeObserver(() => {
      plot?.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    observer.observe(element);
    return () => {
      left = true;
      observer.disconnect();
      dark.removeEventListener('change', again);
      plot?.destroy();
    };
  }, [times, series, bucketSeconds, text]);
  return <div ref={place} class="plot" role="img" aria-label={label} />;
}

type Make = {
  readonly element: HTMLElement;
  readonly series: readonly PlotSeries[];
  readonly bucketSeconds: number;
  readonly text: (value: number) => string;
  readonly Plotter: typeof uPlot;
};

function optionsOf({ element, series, bucketSeconds, text, Plotter }: Make): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const bars = Plotter.paths.bars?.({ size: [0.8, 28], align: 1 });
  const axis = {
    stroke: colour('quiet'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { stroke: colour('line'), width: 1 },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: true, range: (_, min, max) => [min, max + bucketSeconds] },
      y: { range: (_, __, max) => [0, Math.max(1, max * 1.05)] },
    },
    axes: [
      { ...axis, ...timeAxis(bucketSeconds) },
      {
        ...axis,
        size: 62,
        values: (_, values) => values.map((one) => (one % 1 === 0 ? text(one) : '')),
      },
    ],
    series: [
      {},
      // The highest sum first: each covers what is below its own.
      ...series.toReversed().map(({ name, colour: of }) => ({
        label: name,
        fill: colour(of),
        width: 0,
        points: { show: false },
        ...(bars !== undefined && { paths: bars }),
      })),
    ],
  };
}

const HOUR = 3_600;
const DAY = 86_400;

/** Ticks at whole days, or at whole hours where the buckets are hours. */
function timeAxis(bucketSeconds: number): Partial<uPlot.Axis> {
  const days = bucketSeconds >= DAY;
  const steps = days ? [1, 2, 7, 14, 30, 61, 122, 365] : [1, 2, 3, 6, 12, 24];
  const text = (at: number) =>
    days ? dayOf(at * 1000).slice(5) : clockText(at * 1000).slice(0, 5);
  return {
    incrs: steps.map((step) => step * (days ? DAY : HOUR)),
    values: (_, splits) => splits.map(text),
  };
}

/** Sums from the bottom, the highest first. */
function stacked(series: readonly PlotSeries[]): number[][] {
  const sums: number[][] = [];
  for (const { values } of series) {
    const below = sums[0];
    sums.unshift(values.map((value, at) => value + (below?.[at] ?? 0)));
  }
  return sums;
}

export function Legend({ series }: { readonly series: readonly PlotSeries[] }) {
  return (
    <div class="legend">
      {series.map(({ name, colour, values }) => (
        <span key={name}>
          <span class="swatch" style={{ background: `var(--${colour})` }} aria-hidden="true" />{' '}
          {name} {values.reduce((sum, one) => sum + one, 0).toLocaleString('en-US')}
        </span>
      ))}
    </div>
  );
}
