// Reads the writer's lines from stdin and prints how late each was, in milliseconds.
import { delayMeter } from './delays.mjs';

const meter = delayMeter();
process.stdin.on('data', (piece) => meter.take(piece.toString()));
process.stdin.on('end', () => console.log(JSON.stringify(meter.delays)));
