// One command of a session: what was run and where, how it ended, what the policy said, which files
// it changed, and the beginning and the end of what it printed.
import { useState } from 'preact/hooks';
import type { Block } from '../../src/web/api.ts';
import { outputText } from '../core/output.ts';
import { visible } from '../core/visible.ts';
import { bytesText, manyText, spanText } from '../core/words.ts';
import { copy } from '../data/view.ts';
import { Button, Link, Outcome, Time } from '../parts/marks.tsx';
import { OutputText } from '../parts/output.tsx';
import { Proof } from '../parts/proof.tsx';

type Props = {
  readonly block: Block;
  readonly current: boolean;
  readonly folded: boolean;
  readonly journal: string;
};

export function BlockCard({ block, current, folded, journal }: Props) {
  const [proof, setProof] = useState(false);
  const { sequence_number: number, session_id: id, run } = block;
  return (
    <article
      id={`cmd-${number}`}
      class={`block block-${block.outcome} ${current ? 'current' : ''}`}
      aria-label={`Command ${number}`}
    >
      <div class="block-head">
        <div class="block-command">
          <Link page="session" id={id} query={{ cmd: String(number) }} class="block-number">
            {number}
          </Link>
          <pre tabIndex={block.command.split('\n').length > 7 ? 0 : undefined}>
            {lines(block.command)}
          </pre>
          <Outcome outcome={block.outcome} words={endingOf(block)} />
        </div>
        <div class="block-facts">
          <Time at={block.timestamp} />
          <span>{spanText(block.duration_ms)}</span>
          <span class="mono">{visible(block.working_directory)}</span>
          <Processes block={block} />
          <Verdict block={block} />
          <span class="buttons">
            <Button class="small" onClick={() => void copyBlock(block)}>
              Copy
            </Button>
            <Button class="small" pressed={proof} onClick={() => setProof(!proof)}>
              Prove
            </Button>
            {run !== null && (
              <Link page="run" id={run.session_id}>
                Open run
              </Link>
            )}
          </span>
        </div>
      </div>
      {!folded && <Body block={block} />}
      {proof && <Proof entry={block.entry_id} journal={journal} />}
    </article>
  );
}

function Body({ block }: { readonly block: Block }) {
  const { output, files, why, survivors, leaked, description } = block;
  return (
    <div class="block-body">
      {description !== null && <div class="block-note">{visible(description)}</div>}
      {why !== null && block.outcome === 'refused' && <div class="block-note">{lines(why)}</div>}
      {files.length > 0 && (
        <div class="files">
          <span class="quiet">{manyText(files.length, 'file')} changed:</span>
          {files.map(({ path, how, by }) => (
            <span key={`${how} ${path}`} title={`seen by the ${by}`}>
              <span class="quiet">{how}</span> <code>{visible(path)}</code>
            </span>
          ))}
        </div>
      )}
      {leaked !== undefined && (
        <div class="block-note">
          <Outcome outcome="failed" words={`printed the secret value of ${leaked.join(', ')}`} />
        </div>
      )}
      {survivors !== undefined && (
        <div class="block-note">It left {manyText(survivors.length, 'process', 'processes')}.</div>
      )}
      <Output block={block} />
      {output.source === 'entry' && output.bytes > 0 && (
        <div class="block-note">The capture is gone: stdout stands before stderr.</div>
      )}
    </div>
  );
}

function Output({ block }: { readonly block: Block }) {
  const { output, run } = block;
  const { head, tail, omitted_lines: omitted } = output;
  if (output.source === 'none') return <div class="block-note">Its output is not kept.</div>;
  if (head.length === 0 && tail.length === 0) return <div class="block-note">No output.</div>;
  return (
    <div class="block-output">
      <OutputText parts={head} />
      {omitted > 0 && (
        <div class="block-note">
          … {manyText(omitted, 'line')} of {bytesText(output.bytes)} left out{' '}
          {run !== null && (
            <Link page="run" id={run.session_id}>
              read them
            </Link>
          )}
        </div>
      )}
      {tail.length > 0 && <OutputText parts={tail} />}
    </div>
  );
}

function Processes({ block }: { readonly block: Block }) {
  const { processes, failed_processes: failed, run } = block;
  if (processes === null) return null;
  const words = manyText(processes, 'process', 'processes');
  const text = failed === null || failed === 0 ? words : `${words}, ${failed} failed`;
  if (run === null || !run.traced) return <span>{text}</span>;
  return (
    <Link page="run" id={run.session_id} query={{ view: 'processes' }}>
      {text}
    </Link>
  );
}

function Verdict({ block }: { readonly block: Block }) {
  const { decision, why } = block;
  if (decision === null) return null;
  const { verdict, code, mode, approved } = decision;
  const words = approved === null ? `${verdict} (${code})` : `${verdict}, approved ${approved}`;
  return (
    <span title={why ?? undefined}>
      policy: {words}
      {mode !== 'enforce' && `, ${mode} only`}
    </span>
  );
}

function endingOf(block: Block): string {
  const { exit_code: code, signal, outcome } = block;
  if (outcome === 'refused') return 'refused';
  if (outcome === 'timed_out') return 'timed out';
  if (code !== null) return `exit ${code}`;
  return signal ?? block.end_reason;
}

/** Text of several lines, in which nothing hides. */
function lines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

async function copyBlock({ command, output }: Block): Promise<void> {
  const parts = [command, outputText(output.head), outputText(output.tail)];
  await copy(parts.filter(Boolean).join('\n'), 'the block');
}
