// The policy: questions that wait for a person, the text with what is wrong in it, what it would
// have said of what was recorded, and a line to try a command on.
import { useEffect, useRef, useState } from 'preact/hooks';
import type {
  ApprovalSpan,
  ApproveAnswer,
  CheckAnswer,
  LintAnswer,
  PolicyAnswer,
  Question,
  WhatIfAnswer,
} from '../../src/web/api.ts';
import { visible } from '../core/visible.ts';
import { manyText } from '../core/words.ts';
import { get, hello, post, Refusal } from '../data/client.ts';
import { questions } from '../data/questions.ts';
import { useAnswer } from '../data/use.ts';
import { requery, route, say } from '../data/view.ts';
import { Button, Failure, Outcome, Time, Typed } from '../parts/marks.tsx';
import { save } from '../parts/proof.tsx';
import { WhatIf } from './policy-whatif.tsx';

const TYPING_MS = 400; // letters that come faster are one question

export function PolicyPage() {
  const { project } = route.value.query;
  const { data, error } = useAnswer<PolicyAnswer>(`policy ${project}`, (signal) =>
    get('policy', { project }, signal),
  );
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <p class="quiet loading">Reading the policy…</p>;
  return (
    <div class="page page-text">
      <div class="page-head">
        <h1>Policy</h1>
        <select
          aria-label="Project"
          value={project ?? data.project}
          onChange={(event) => requery({ project: event.currentTarget.value })}
        >
          {[
            ...new Set([data.project, ...(hello.value?.projects ?? []).map((one) => one.project)]),
          ].map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </div>
      <Questions />
      <Editor key={data.project} answer={data} />
    </div>
  );
}

function Questions() {
  const waiting = questions.value;
  if (waiting.length === 0) return <p class="quiet">No question waits for an answer.</p>;
  return (
    <section aria-label="Questions">
      {waiting.map((one) => (
        <Asked key={one.id} question={one} />
      ))}
    </section>
  );
}

const SPAN_WORDS: Readonly<Record<ApprovalSpan, string>> = {
  once: 'Once',
  hour: 'For an hour',
  conversation: 'For this conversation',
  always: 'Always',
};

function Asked({ question }: { readonly question: Question }) {
  const [busy, setBusy] = useState(false);
  const reasons = question.reasons.filter((one) => one !== question.message);
  const answer = (how: ApprovalSpan | 'no') => async (event: Event) => {
    // Only a person's own click or key: a script of another page has no part in this.
    if (!event.isTrusted) return;
    setBusy(true);
    try {
      await post<ApproveAnswer>('approve', { id: question.id, answer: how });
      say(how === 'no' ? 'Refused.' : `Approved: ${SPAN_WORDS[how].toLowerCase()}.`);
      questions.value = questions.value.filter(({ id }) => id !== question.id);
    } catch (error) {
      if (error instanceof Refusal) say(`${error.message} ${error.hint ?? ''}`);
    }
    setBusy(false);
  };
  return (
    <article class="panel question" aria-label="A question">
      <Outcome outcome="timed_out" words="waits for you" />{' '}
      <span class="quiet">
        {question.agent ?? 'An agent'} asked <Time at={question.asked_at} ago /> to run, in{' '}
        <code>{visible(question.cwd)}</code>:
      </span>
      <pre>{question.command.split('\n').map(visible).join('\n')}</pre>
      <p>{visible(question.message)}</p>
      {reasons.length > 0 && (
        <ul>
          {reasons.map((one) => (
            <li key={one}>{visible(one)}</li>
          ))}
        </ul>
      )}
      {hello.value?.read_only === false ? (
        <div class="bar">
          {question.spans.map((span) => (
            <button key={span} type="button" disabled={busy} onClick={answer(span)}>
              {SPAN_WORDS[span]}
            </button>
          ))}
          <button type="button" class="danger" disabled={busy} onClick={answer('no')}>
            No
          </button>
        </div>
      ) : (
        <p class="quiet">
          This page only reads. <Typed command={`cuff policy approve ${question.id}`} />
        </p>
      )}
    </article>
  );
}

function Editor({ answer }: { readonly answer: PolicyAnswer }) {
  const inForce = answer.files.find(({ text }) => text !== null)?.text;
  const [text, setText] = useState(inForce ?? answer.template);
  const [lint, setLint] = useState<LintAnswer>();
  const [whatIf, setWhatIf] = useState<WhatIfAnswer>();
  const [busy, setBusy] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      void post<LintAnswer>('policy/lint', { text }).then(setLint, refused);
    }, TYPING_MS);
    return () => clearTimeout(timer.current);
  }, [text]);
  const look = async () => {
    setBusy(true);
    try {
      setWhatIf(await post<WhatIfAnswer>('policy/whatif', { text, project: answer.project }));
    } catch (error) {
      refused(error);
    }
    setBusy(false);
  };
  const changed = text !== (inForce ?? answer.template);
  return (
    <div class="halves">
      <section class="panel">
        <h2>{inForce === undefined ? 'No policy is in force: a draft' : 'The policy in force'}</h2>
        <Files answer={answer} />
        <textarea
          class="policy-text"
          aria-label="Draft of the policy"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {lint !== undefined && <Problems lint={lint} />}
        <div class="bar">
          <Button class="primary" onClick={() => void look()} disabled={busy}>
            {busy ? 'Judging…' : 'What if?'}
          </Button>
          <Button onClick={() => save('policy.yml', new Blob([text]))}>Save as a file</Button>
          {changed && (
            <Button onClick={() => setText(inForce ?? answer.template)}>Drop the draft</Button>
          )}
        </div>
        <p class="quiet">
          This page changes no policy. A saved draft counts when it lies at{' '}
          <code>{answer.files[0]?.path ?? '.cuff/policy.yml'}</code>.
        </p>
      </section>
      <section class="panel">
        <Try text={changed ? text : undefined} project={answer.project} />
        <h2>What it says of what was recorded</h2>
        {whatIf === undefined ? (
          <p class="quiet">“What if?” judges the commands of the last 30 days by the draft.</p>
        ) : (
          <WhatIf answer={whatIf} />
        )}
      </section>
    </div>
  );
}

function Files({ answer }: { readonly answer: PolicyAnswer }) {
  if (answer.files.length === 0) return null;
  return (
    <ul>
      {answer.files.map(({ path, origin, problems, warnings }) => (
        <li key={path}>
          <code>{path}</code> <span class="quiet">({origin})</span>
          {problems.length > 0 && (
            <Outcome outcome="failed" words={manyText(problems.length, 'mistake')} />
          )}
          {warnings.length > 0 && (
            <Outcome outcome="timed_out" words={manyText(warnings.length, 'warning')} />
          )}
        </li>
      ))}
    </ul>
  );
}

function Problems({ lint }: { readonly lint: LintAnswer }) {
  const all = [
    ...lint.problems.map((one) => ({ ...one, outcome: 'failed' as const })),
    ...lint.warnings.map((one) => ({ ...one, outcome: 'timed_out' as const })),
  ];
  return (
    <div role="status">
      {all.length === 0 && <Outcome outcome="ok" words="no mistake in it" />}
      <ul>
        {all.map(({ line, column, message, outcome }) => (
          <li key={`${line} ${column} ${message}`}>
            <Outcome outcome={outcome} words={`line ${line}`} /> {message}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Try({ text, project }: { readonly text: string | undefined; readonly project: string }) {
  const [command, setCommand] = useState('');
  const [answer, setAnswer] = useState<CheckAnswer>();
  const ask = async () => {
    try {
      const draft = text === undefined ? {} : { text };
      setAnswer(await post<CheckAnswer>('policy/check', { command, project, ...draft }));
    } catch (error) {
      refused(error);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void ask();
      }}
    >
      <h2>Try a command</h2>
      <div class="bar">
        <input
          id="try"
          type="text"
          aria-label="A command to judge"
          placeholder="git push --force"
          value={command}
          onInput={(event) => setCommand(event.currentTarget.value)}
        />
        <button type="submit" disabled={command === ''}>
          Why?
        </button>
      </div>
      {answer !== undefined && (
        <div role="status">
          <p>
            <Outcome
              outcome={outcomeOf(answer)}
              words={answer.verdict ?? 'no policy is in force'}
            />
          </p>
          <pre>{answer.words.map(visible).join('\n')}</pre>
        </div>
      )}
      <p class="quiet">{text === undefined ? 'By the policy in force.' : 'By the draft.'}</p>
    </form>
  );
}

function outcomeOf({ verdict }: CheckAnswer): 'ok' | 'refused' | 'timed_out' | 'none' {
  if (verdict === 'allow') return 'ok';
  if (verdict === 'deny') return 'refused';
  return verdict === 'ask' ? 'timed_out' : 'none';
}

function refused(error: unknown): void {
  if (error instanceof Refusal) say(error.message);
}
