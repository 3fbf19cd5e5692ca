// Small things that many pages show: how a command ended, how a session is sealed, times, buttons.
// A colour never stands alone: there is a sign and a word with it.
import type { ComponentChildren } from 'preact';
import type { BlockOutcome, Seal } from '../../src/web/api.ts';
import { formatRoute, type Page, type Route } from '../core/route.ts';
import { agoText, clockText } from '../core/words.ts';
import type { Refusal } from '../data/client.ts';
import { copy } from '../data/view.ts';

const SIGNS: Readonly<Record<BlockOutcome, string>> = {
  ok: '✓',
  failed: '✗',
  refused: '⊘',
  timed_out: '◷',
  none: '–',
};

const OUTCOME_WORDS: Readonly<Record<BlockOutcome, string>> = {
  ok: 'ok',
  failed: 'failed',
  refused: 'refused',
  timed_out: 'timed out',
  none: 'no exit code',
};

export function Outcome({ outcome, words }: { outcome: BlockOutcome; words?: string }) {
  return (
    <span class={`mark mark-${outcome}`}>
      <span aria-hidden="true">{SIGNS[outcome]}</span> {words ?? OUTCOME_WORDS[outcome]}
    </span>
  );
}

const SEALS: Readonly<Record<Seal, readonly [string, string]>> = {
  anchored: ['⚓', 'sealed, and its root is kept outside this account'],
  sealed: ['◆', 'sealed in the ledger; the root is not anchored yet'],
  open: ['◇', 'its writer is not done, so it is not sealed yet'],
  recovered: ['↺', 'written again after a crash'],
  gap: ['▢', 'the ledger does not have all of it'],
  tampered: ['✗', 'it is not what was sealed: see Verify'],
};

export function SealMark({ seal }: { readonly seal: Seal | undefined }) {
  if (seal === undefined) return <span class="quiet">not sealed</span>;
  const [sign, why] = SEALS[seal];
  return (
    <span class={`seal seal-${seal}`} title={why}>
      <span aria-hidden="true">{sign}</span> {seal}
    </span>
  );
}

export function Time({ at, ago = false }: { readonly at: string; readonly ago?: boolean }) {
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={at}>
      {ago ? agoText(ms, Date.now()) : clockText(ms)}
    </time>
  );
}

type LinkProps = Partial<Route> & {
  readonly page: Page;
  readonly class?: string;
  readonly title?: string;
  /** It is where the reader is. */
  readonly current?: boolean;
  readonly children: ComponentChildren;
};

export function Link({ page, id, query, current, children, ...rest }: LinkProps) {
  const href = formatRoute({ page, ...(id && { id }), ...(query && { query }) });
  return (
    <a href={href} {...rest} aria-current={current === true ? 'page' : undefined}>
      {children}
    </a>
  );
}

type ButtonProps = {
  readonly onClick: () => void;
  readonly children: ComponentChildren;
  readonly pressed?: boolean;
  readonly title?: string;
  readonly label?: string;
  readonly class?: string;
  readonly disabled?: boolean;
};

export function Button({ pressed, label, children, ...rest }: ButtonProps) {
  const state = pressed === undefined ? {} : { 'aria-pressed': pressed };
  return (
    <button type="button" {...rest} {...state} {...(label && { 'aria-label': label })}>
      {children}
    </button>
  );
}

/** A command for a terminal, with a button that copies it. */
export function Typed({ command }: { readonly command: string }) {
  return (
    <span class="typed">
      <code>{command}</code>
      <Button onClick={() => void copy(command, 'the command')} label={`Copy ${command}`}>
        Copy
      </Button>
    </span>
  );
}

export function Failure({ error }: { readonly error: Refusal }) {
  return (
    <div class="notice notice-bad" role="alert">
      <p>{error.message}</p>
      {error.hint !== null && <p class="quiet">{error.hint}</p>}
    </div>
  );
}

/** What a page says while there is nothing: what to do first. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function Facts({
  rows,
}: {
  readonly rows: readonly (readonly [string, ComponentChildren])[];
}) {
  return (
    <table class="facts">
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
