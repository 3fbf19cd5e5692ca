// The box that finds in a log: what is typed is looked for when typing pauses; Enter goes on.
import { useRef, useState } from 'preact/hooks';
import { countText } from '../core/words.ts';
import type { LogFind } from '../data/find.ts';
import { Button } from '../parts/marks.tsx';

const TYPING_MS = 250; // letters that come faster are one question

type Props = {
  readonly find: LogFind;
  readonly id: string;
  readonly onStep: (direction: 1 | -1) => void;
};

export function FindBar({ find, id, onStep }: Props) {
  const [text, setText] = useState('');
  const [regex, setRegex] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const look = (words: string, pattern: boolean, wait: number) => {
    setText(words);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void find.look(id, words, pattern), wait);
  };
  const count = find.count.value;
  return (
    <form
      class="find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onStep(1);
      }}
    >
      <input
        id="find"
        type="search"
        placeholder="Find (/)"
        aria-label="Find in this log"
        value={text}
        onInput={(event) => look(event.currentTarget.value, regex, TYPING_MS)}
      />
      <Button
        pressed={regex}
        title="A regular expression"
        onClick={() => {
          setRegex(!regex);
          look(text, !regex, 0);
        }}
      >
        .*
      </Button>
      <Button label="Match before" onClick={() => onStep(-1)} disabled={count === 0}>
        ↑
      </Button>
      <Button label="Next match" onClick={() => onStep(1)} disabled={count === 0}>
        ↓
      </Button>
      <span role="status" class="quiet">
        {find.failure.value?.message ??
          (text === '' ? '' : `${countText(count)} found${find.busy.value ? '…' : ''}`)}
      </span>
    </form>
  );
}
