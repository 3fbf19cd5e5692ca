// A list of which only the rows on the screen exist. Pages move it by keys, the reader by wheel and
// scrollbar.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import {
  clampPosition,
  HEIGHT_MAX,
  heightOf,
  type List,
  positionAt,
  type Rows,
  rowsAt,
  scrollAt,
} from '../core/virtual.ts';
import type { ListState } from '../data/list-state.ts';

type Props = {
  readonly state: ListState;
  readonly count: number;
  readonly rowHeight: number;
  readonly rows: (rows: Rows) => ComponentChildren;
  readonly role?: 'log' | 'rowgroup' | 'list';
  readonly label: string;
  readonly class?: string;
  /** The reader moved it, not the page. */
  readonly onScroll?: () => void;
};

export function VirtualList({ state, count, rowHeight, rows, role, label, ...rest }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const written = useRef(-1);
  state.count = count;
  state.rowHeight = rowHeight;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    state.measure = () => {
      state.viewport.value = Math.max(rowHeight, element.clientHeight);
    };
    state.measure();
    const observer = new ResizeObserver(() => state.measure());
    observer.observe(element);
    return () => observer.disconnect();
  }, [state, rowHeight]);

  const list: List = { count, rowHeight, viewport: state.viewport.value };
  const position = clampPosition(list, state.position.value);
  const shown = rowsAt(list, position);
  const top = scrollAt(list, position);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null || Math.abs(element.scrollTop - top) < 1) return;
    element.scrollTop = top;
    written.current = element.scrollTop;
  });
  const scrolled = () => {
    const at = place.current?.scrollTop ?? 0;
    if (Math.abs(at - written.current) < 1) return;
    written.current = at;
    state.position.value = positionAt(list, at);
    rest.onScroll?.();
  };
  // Where the scrollbar is scaled, the wheel would leap.
  const wheeled = (event: WheelEvent) => {
    if (count * rowHeight <= HEIGHT_MAX) return;
    event.preventDefault();
    state.move(event.deltaY / rowHeight);
    rest.onScroll?.();
  };
  return (
    <div
      ref={place}
      class={`vlist ${rest.class ?? ''}`}
      role={role}
      aria-label={label}
      tabIndex={0}
      onScroll={scrolled}
      onWheel={wheeled}
    >
      <div class="vspace" style={{ height: `${heightOf(list)}px` }}>
        <div
          class="vrows"
          style={{ transform: `translateY(${top - (position - shown.first) * rowHeight}px)` }}
        >
          {rows(shown)}
        </div>
      </div>
    </div>
  );
}
