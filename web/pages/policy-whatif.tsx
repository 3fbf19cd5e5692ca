// What a draft would have decided, with the commands that show it.
import type { Verdict, WhatIfAnswer } from '../../src/web/api.ts';
import { visible } from '../core/visible.ts';
import { countText, manyText } from '../core/words.ts';
import { Outcome } from '../parts/marks.tsx';

const OUTCOMES = { allow: 'ok', ask: 'timed_out', deny: 'refused' } as const;

export function WhatIf({ answer }: { readonly answer: WhatIfAnswer }) {
  const { test, diff } = answer;
  if (test === null) return <p>It is no policy yet: mend the mistakes on the left first.</p>;
  if (test.commands === 0) return <p>Nothing is recorded that it could be tried on.</p>;
  return (
    <>
      <p class="run-facts">
        <span>{manyText(test.commands, 'command')}</span>
        <Outcome outcome="ok" words={`${countText(test.allow)} allowed`} />
        <Outcome outcome="timed_out" words={`${countText(test.ask)} asked about`} />
        <Outcome outcome="refused" words={`${countText(test.deny)} refused`} />
      </p>
      {diff !== null && <Diff diff={diff} />}
      <table>
        <caption>Not allowed</caption>
        <thead>
          <tr>
            <th>Command</th>
            <th>Verdict</th>
            <th class="num">Times</th>
          </tr>
        </thead>
        <tbody>
          {test.not_allowed.slice(0, 40).map((one, at) => (
            <tr key={at}>
              <td>
                {one.command === null ? (
                  <span class="quiet">not shown: it may hold a secret</span>
                ) : (
                  <code>{visible(one.command)}</code>
                )}
              </td>
              <td title={one.code}>
                <Word verdict={one.verdict} />
              </td>
              <td class="num">{countText(one.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {test.dead_rules.length > 0 && (
        <p class="quiet">Rules that nothing matched: {test.dead_rules.map(visible).join(', ')}</p>
      )}
    </>
  );
}

function Diff({ diff }: { readonly diff: NonNullable<WhatIfAnswer['diff']> }) {
  const { loosened, tightened, decisions, against } = diff;
  if (decisions.length === 0) return <p>It decides all of it as {against} does.</p>;
  return (
    <table>
      <caption>
        Against {against}: {countText(loosened)} looser, {countText(tightened)} stricter
      </caption>
      <thead>
        <tr>
          <th>Command</th>
          <th>Now</th>
          <th>Then</th>
          <th class="num">Times</th>
        </tr>
      </thead>
      <tbody>
        {decisions.slice(0, 40).map(({ command, cwd, before, after, count }) => (
          <tr key={`${cwd} ${command}`}>
            <td>
              <code>{visible(command)}</code>
            </td>
            <td>
              <Word verdict={before} />
            </td>
            <td>
              <Word verdict={after} />
            </td>
            <td class="num">{countText(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Word({ verdict }: { readonly verdict: Verdict }) {
  return <Outcome outcome={OUTCOMES[verdict]} words={verdict} />;
}
