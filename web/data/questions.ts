// Questions that wait for a person: every page shows how many there are.
import { signal } from '@preact/signals';
import type { Question } from '../../src/web/api.ts';

export const questions = signal<readonly Question[]>([]);
