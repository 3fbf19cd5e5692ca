// A secret that a person gives to a command: `-` reads it from stdin, or asks for it at the
// terminal without showing it. As an argument others on the machine can see it.

import { AppError } from '../errors.ts';

const BYTES_MAX = 65_536; // a private key has a tenth of it
const [INTERRUPT, END] = ['\x03', '\x04'];
const ERASES = ['\x7f', '\b'];

/** Without space and line ends around it. */
export async function secretFrom(given: string): Promise<string> {
  if (given !== '-') return given.trim();
  const text = process.stdin.isTTY === true ? await typed() : await piped();
  return text.trim();
}

async function piped(): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of process.stdin) {
    const bytes = Buffer.from(piece);
    pieces.push(bytes);
    length += bytes.length;
    if (length > BYTES_MAX)
      throw new AppError('usage', `A secret of more than ${BYTES_MAX} bytes.`);
  }
  return Buffer.concat(pieces).toString();
}

/** Ctrl-C and Ctrl-D give it up. A pasted key has lines: all that comes at once belongs to it. */
function typed(): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write('Secret (not shown): ');
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  return new Promise((resolve, reject) => {
    let text = '';
    const finish = (end: () => void): void => {
      stdin.off('data', heard);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      end();
    };
    const heard = (piece: string): void => {
      if (piece.includes(INTERRUPT) || piece.includes(END)) {
        finish(() => reject(new AppError('cancelled', 'Nothing was redacted.')));
        return;
      }
      for (const sign of piece) {
        text = ERASES.includes(sign) ? text.slice(0, -1) : text + sign;
      }
      if (/[\r\n]$/.test(text)) finish(() => resolve(text.replace(/\r\n?/g, '\n')));
    };
    stdin.on('data', heard);
  });
}
