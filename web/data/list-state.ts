// Where a long list stands, in rows.
import { signal } from '@preact/signals';
import { clampPosition, type List, positionMax, positionShowing } from '../core/virtual.ts';

export class ListState {
  readonly position = signal(0);
  readonly viewport = signal(600);
  count = 0;
  rowHeight = 20;
  /** Reads the size of the element; nothing before it is there. */
  measure: () => void = () => undefined;

  get list(): List {
    const { count, rowHeight } = this;
    return { count, rowHeight, viewport: this.viewport.value };
  }

  move(rows: number): void {
    this.position.value = clampPosition(this.list, this.position.value + rows);
  }

  show(row: number): void {
    this.position.value = positionShowing(this.list, this.position.value, row);
  }

  /** With the row a third down, as a link that names it opens. */
  centre(row: number): void {
    const seen = this.viewport.value / this.rowHeight;
    this.position.value = clampPosition(this.list, row - seen / 3);
  }

  get atEnd(): boolean {
    return this.position.value >= positionMax(this.list) - 1;
  }

  toEnd(): void {
    this.position.value = positionMax(this.list);
  }

  page(direction: 1 | -1): void {
    this.move(direction * Math.max(1, Math.floor(this.viewport.value / this.rowHeight) - 1));
  }
}
