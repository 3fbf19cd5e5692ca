// How logs are shown: kept over runs, in this browser.
import { kept } from './view.ts';

export const wrap = kept('wrap', false);
export const colours = kept('ansi', true);
export const times = kept('times', false);
