// The proof of one entry: fetched when it is asked for, shown as it is, and saved as a file that
// anybody checks without this page.
import { useState } from 'preact/hooks';
import { getText, Refusal } from '../data/client.ts';
import { say } from '../data/view.ts';
import { Button, Failure, Typed } from './marks.tsx';

type Props = { readonly entry: string; readonly journal: string };
type State = { readonly text?: string; readonly error?: Refusal; readonly busy?: boolean };

export function Proof({ entry, journal }: Props) {
  const [state, setState] = useState<State>({});
  const load = async () => {
    setState({ busy: true });
    try {
      setState({ text: await getText(`proof/${encodeURIComponent(entry)}`, { journal }) });
    } catch (error) {
      setState(error instanceof Refusal ? { error } : {});
    }
  };
  const { text, error, busy } = state;
  return (
    <section class="panel" aria-label="Proof">
      <h2>Proof of entry {entry}</h2>
      <p class="quiet">
        It shows that this entry is in the signed ledger, as it is here. Check it with{' '}
        <code>cuff verify --proof FILE</code>, or with a script that needs nothing of cuff.
      </p>
      <div class="bar">
        <Button class="primary" disabled={busy === true} onClick={() => void load()}>
          Make the proof
        </Button>
        {text !== undefined && (
          <Button onClick={() => save(`${entry}.proof.txt`, new Blob([text]))}>Save it</Button>
        )}
        <Typed command={`cuff prove ${entry}`} />
      </div>
      {error !== undefined && <Failure error={error} />}
      {text !== undefined && <pre class="code-block">{text}</pre>}
    </section>
  );
}

export function save(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  say(`Saved ${name}.`);
}
