// What is served to a browser: small, of this house alone, and without a way to make HTML of text.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SERVED = join(ROOT, 'dist/web');
const FIRST_LOAD_MAX = 40_000;
const WITH_TERMINAL_MAX = 150_000;

const files = new Map(
  readdirSync(SERVED).map((name) => [name, readFileSync(join(SERVED, name))] as const),
);
const packed = (names: Iterable<string>) =>
  [...new Set(names)].reduce((sum, name) => sum + gzipSync(files.get(name) ?? '').length, 0);

/** A file and all that it imports; what it imports when it is asked for is not among them. */
function withImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = files.get(name)?.toString() ?? '';
  for (const [, next] of text.matchAll(/(?:from|import)"\.\/([\w.-]+)"/g)) {
    withImports(next ?? '', found);
  }
  return found;
}

/** The files that are asked for one after the other until this one is. */
function wayTo(wanted: string, from: string, before: readonly string[] = []): string[] {
  if (before.includes(from)) return [];
  const way = [...before, from];
  const text = [...withImports(from)].map((name) => files.get(name)?.toString() ?? '').join('');
  if (from === wanted) return way;
  for (const [, next] of text.matchAll(/import\("\.\/([\w.-]+)"\)/g)) {
    const found = wayTo(wanted, next ?? '', way);
    if (found.length > 0) return found;
  }
  return [];
}

const start = [...withImports('app.js'), 'nonce.js', 'app.css', 'index.html'];

describe('what a browser loads', () => {
  it('is at most 40 kB before the first page is seen', () => {
    const size = packed(start);
    expect(start.every((name) => files.has(name))).toBe(true);
    expect(size, `${size} bytes`).toBeLessThanOrEqual(FIRST_LOAD_MAX);
    expect(size).toBeGreaterThan(10_000); // it found what there is
  });

  it('is at most 150 kB when a run is played in the terminal', () => {
    const scripts = [...files].filter(([name]) => name.endsWith('.js'));
    const terminal = scripts.find(([, text]) => text.includes('xterm-helper-textarea'))?.[0];
    const way = wayTo(terminal ?? '', 'app.js');
    expect(way).toHaveLength(4); // the start, the page of a run, its player, the terminal
    const size = packed([...start, ...way.flatMap((name) => [...withImports(name)])]);
    expect(size, `${size} bytes`).toBeLessThanOrEqual(WITH_TERMINAL_MAX);
    expect(size).toBeGreaterThan(100_000);
  });

  it('names no other host', () => {
    const names = /^http:\/\/www\.w3\.org\/(2000\/svg|1999\/xhtml|1998\/Math\/MathML)$/;
    for (const [name, bytes] of files) {
      const urls = bytes.toString().match(/\b(?:https?|wss?):\/\/[^"'`\\\s)<]*/g) ?? [];
      const foreign = urls.filter((url) => !names.test(url) && !/^wss?:\/\/\$\{/.test(url));
      expect({ name, foreign }).toEqual({ name, foreign: [] });
    }
  });

  it('starts nothing inline, and has a place for the nonce', () => {
    const page = files.get('index.html')?.toString() ?? '';
    expect(page).toContain('content="__NONCE__"');
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
    expect(page.indexOf('nonce.js')).toBeLessThan(page.indexOf('app.js'));
  });

  it('never makes HTML or code of a text', () => {
    const sources = readdirSync(join(ROOT, 'web'), { recursive: true, encoding: 'utf8' });
    const made =
      /(inner|outer|insertAdjacent)HTML|document\.write|DOMParser|\beval\(|new Function|srcdoc/i;
    const bad = sources
      .filter((name) => /\.tsx?$/.test(name))
      .filter((name) => made.test(readFileSync(join(ROOT, 'web', name), 'utf8')));
    expect(bad).toEqual([]);
  });
});
