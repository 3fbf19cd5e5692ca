// The table that a bench prints.
import { machine } from './measure.mjs';

const HEAD = ['name', 'ours', 'baseline', 'ratio', 'target', 'verdict', 'what'];
const NUMBERS = new Set([1, 2, 3]); // columns that line up on the right

export function tableOf(results) {
  const cells = [HEAD, ...results.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column];
        return NUMBERS.has(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
  const failures = results.filter((row) => row.error).map((row) => `${row.name}: ${row.error}`);
  const { node, kernel, cores, cpu, load } = machine();
  const where = `Node ${node}, Linux ${kernel}, ${cores} cores (${cpu}), load ${load.join(' ')}`;
  return [...lines, '', `Medians of interleaved runs. ${where}`, ...failures].join('\n');
}

function cellsOf({ name, what, unit, target, ours, baseline, ratio, verdict }) {
  const number = (part) => (part === undefined ? '-' : `${digits(part.median)} ${unit}`);
  const ratioText = ratio === undefined ? '-' : ratio.toFixed(ratio < 0.1 ? 3 : 2);
  const limits = [
    target?.ratio && `${target.ratio[0]} ${target.ratio[1]}x`,
    target?.ours && `${target.ours[0]} ${target.ours[1]} ${unit}`,
  ];
  const wanted = limits.filter(Boolean).join(', ') || '-';
  return [name, number(ours), number(baseline), ratioText, wanted, verdict, what];
}

function digits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
