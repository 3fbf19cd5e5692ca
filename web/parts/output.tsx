// Output inside a block: the lines of its channels, stderr marked by colour and by a bar.
import type { OutputPart } from '../../src/web/api.ts';
import { outputLines } from '../core/output.ts';
import { countText } from '../core/words.ts';
import { Painted } from './ink.tsx';

export function OutputText({ parts }: { readonly parts: readonly OutputPart[] }) {
  return (
    <div class="output">
      {outputLines(parts).map(({ channel, spans, cut }, at) => (
        <div
          key={at}
          class={channel === 'stderr' ? 'stderr' : undefined}
          title={channel === 'stderr' ? 'stderr' : undefined}
        >
          {spans.length === 0 ? '\n' : <Painted spans={spans} />}
          {cut > 0 && <span class="quiet"> … {countText(cut)} more characters</span>}
        </div>
      ))}
    </div>
  );
}
