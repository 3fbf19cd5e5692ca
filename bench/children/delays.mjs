// How late lines of the writer arrive. Those from before the reader was up and running say nothing
// and are left out.

const SETTLE_NS = 200_000_000n;

export function delayMeter() {
  const from = process.hrtime.bigint() + SETTLE_NS;
  const delays = [];
  let rest = '';
  return {
    delays,
    take(text) {
      const now = process.hrtime.bigint();
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const written = BigInt(line);
        if (written > from) delays.push(Number(now - written) / 1e6);
      }
    },
  };
}
