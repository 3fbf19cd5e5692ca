// The run as it looked: loaded with the terminal only when this view is opened.
import { useEffect, useRef, useState } from 'preact/hooks';
import { IDLE_CAPS, otherSpeed, SPEEDS } from '../core/clock.ts';
import { PLAYER } from '../core/keys.ts';
import { sinceText } from '../core/words.ts';
import { useKeys } from '../data/keyboard.ts';
import type { Player } from '../data/player.ts';
import { copy, kept, requery, route } from '../data/view.ts';
import { Button, Empty } from '../parts/marks.tsx';
import type { RunView } from './run-view.ts';

const reader = kept('reader', false);

export function PlayerView({ answer }: RunView) {
  const [player, setPlayer] = useState<Player>();
  const place = useRef<HTMLDivElement>(null);
  const spoken = reader.value;
  useEffect(() => {
    if (answer.totals.bytes === 0) return;
    let made: Player | undefined;
    let left = false;
    void import('../data/player.ts').then(async (module) => {
      if (left) return;
      made = new module.Player(answer, spoken);
      await made.begin();
      if (left || place.current === null) return;
      made.terminal.open(place.current);
      setPlayer(made);
      made.seek(Number(route.value.query.t) || 0);
    });
    return () => {
      left = true;
      made?.close();
    };
  }, [answer, spoken]);
  if (answer.totals.bytes === 0) {
    return (
      <Empty title="It printed nothing.">
        <p>There is nothing to play; Facts has how it ended.</p>
      </Empty>
    );
  }
  return (
    <div class="player">
      {player === undefined ? (
        <p class="quiet">Loading the terminal…</p>
      ) : (
        <Controls player={player} />
      )}
      <div ref={place} class="screen" tabIndex={0} role="group" aria-label="Terminal" />
    </div>
  );
}

function Controls({ player }: { readonly player: Player }) {
  const { time, end, playing } = player;
  usePlayerKeys(player);
  return (
    <div class="bar">
      <Button class="primary" onClick={() => player.toggle()}>
        {playing.value ? 'Pause' : 'Play'}
      </Button>
      <Button label="One step back" onClick={() => player.stepBack()}>
        ‹
      </Button>
      <Button label="One step on" onClick={() => player.step()}>
        ›
      </Button>
      <input
        type="range"
        aria-label="Time"
        aria-valuetext={sinceText(time.value)}
        min={0}
        max={end.value}
        value={time.value}
        onChange={(event) => player.seek(Number(event.currentTarget.value))}
      />
      <span class="mono">
        {sinceText(time.value)} / {sinceText(end.value)}
      </span>
      <Choices player={player} />
    </div>
  );
}

function usePlayerKeys(player: Player): void {
  const { time, end, speed } = player;
  const change = (step: 1 | -1) => () => {
    speed.value = otherSpeed(speed.value, step);
  };
  const tenths = [...'0123456789'].map((digit) => [
    `tenth:${digit}`,
    () => player.seek((end.value * Number(digit)) / 10),
  ]);
  useKeys(PLAYER, {
    play: () => player.toggle(),
    step: () => player.step(),
    'step-back': () => player.stepBack(),
    faster: change(1),
    slower: change(-1),
    ...Object.fromEntries(tenths),
    link: () => {
      requery({ t: String(Math.round(time.value)) });
      void copy(location.href, 'the link of this moment');
    },
  });
}

function Choices({ player }: { readonly player: Player }) {
  const { speed, idleCap } = player;
  return (
    <>
      <select
        aria-label="Speed"
        value={String(speed.value)}
        onChange={(event) => {
          speed.value = Number(event.currentTarget.value);
        }}
      >
        {SPEEDS.map((one) => (
          <option key={one} value={String(one)}>
            {one}×
          </option>
        ))}
      </select>
      <select
        aria-label="Longest pause"
        value={String(idleCap.value)}
        onChange={(event) => {
          idleCap.value = Number(event.currentTarget.value);
        }}
      >
        {IDLE_CAPS.map((one) => (
          <option key={one} value={String(one)}>
            {one === 0 ? 'all pauses' : `pauses up to ${one} s`}
          </option>
        ))}
      </select>
      <Button
        pressed={reader.value}
        onClick={() => {
          reader.value = !reader.value;
        }}
      >
        Screen reader
      </Button>
    </>
  );
}
