// The part of the program that judges a command and ends: one file with one cache of its code.

export { hookCommand } from './hook.ts';
export { checkQuickly } from './policy/check-quickly.ts';
