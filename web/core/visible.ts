// Characters that a reader would not see, or that would move what stands around them, as something
// that can be seen. What a command printed may be made to deceive.

const CONTROL = '\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f';
const NO_WIDTH = '\\xad\\u115f\\u180e\\u200b-\\u200d\\u2060-\\u2065\\ufeff\\ufff9-\\ufffb';
const TURNING = '\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u206f';
const HIDDEN = new RegExp(`[${CONTROL}${NO_WIDTH}${TURNING}]|\\u034f`, 'g');

/** Tabs stay: they are white space, and only that. */
export function visible(text: string): string {
  return text.replace(HIDDEN, sign);
}

function sign(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
}
