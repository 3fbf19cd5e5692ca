// `cuff tail`: the last lines of a capture as they were printed, and with -f what follows, until
// nothing more can come.

import { captureNamed, follow, type OutputPiece, storeOf } from '../shell/captures.ts';
import { OutputReader } from '../shell/output/reader.ts';
import { put, putJson } from './output.ts';
import { chunkJson, sayMissing } from './show.ts';

type Options = { readonly lines: number; readonly follow?: boolean; readonly json?: boolean };

export async function tail(part: string, options: Options): Promise<void> {
  const store = storeOf(process.env);
  const capture = captureNamed(store, part);
  const output = OutputReader.of(capture);
  const from = output.lastLines(options.lines);
  sayMissing(capture);
  const show = ({ chunk, bytes }: OutputPiece): Promise<void> =>
    options.json ? putJson(chunkJson({ chunk, bytes })) : put(bytes);
  if (!options.follow) {
    for (const piece of output.pieces(from)) await show(piece);
    return;
  }
  for await (const read of follow(store, capture.id, { from })) {
    for (const piece of read.chunks) await show(piece);
  }
}
