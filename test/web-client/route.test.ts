import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRoute, PAGES, parseRoute } from '../../web/core/route.ts';

describe('a link', () => {
  it('names a page, an id and what is shown of it', () => {
    expect(parseRoute('#/')).toEqual({ page: 'sessions', id: '', query: {} });
    expect(parseRoute('')).toEqual({ page: 'sessions', id: '', query: {} });
    expect(parseRoute('#/?q=npm%20test&agent=claude')).toEqual({
      page: 'sessions',
      id: '',
      query: { q: 'npm test', agent: 'claude' },
    });
    expect(parseRoute('#/s/sess_1?cmd=12')).toEqual({
      page: 'session',
      id: 'sess_1',
      query: { cmd: '12' },
    });
    expect(parseRoute('#/r/a%2Fb')).toEqual({ page: 'run', id: 'a/b', query: {} });
    expect(parseRoute('#/live?ids=a,b').query).toEqual({ ids: 'a,b' });
  });

  it('is the list of sessions where nothing else is known', () => {
    for (const hash of ['#/nothing', '#/s', '#/s/', '#/search/x', '#code=abc', '#/%E0%A4%A']) {
      expect(parseRoute(hash)).toMatchObject({ page: 'sessions', id: '' });
    }
  });

  it('comes back as it was, whatever stands in it', () => {
    const words = fc.string({ unit: 'grapheme', minLength: 1 });
    const queries = fc.dictionary(words, words, { noNullPrototype: true });
    fc.assert(
      fc.property(fc.constantFrom(...PAGES), words, queries, (page, name, query) => {
        fc.pre(!Object.keys(query).includes('__proto__'));
        const id = page === 'session' || page === 'run' ? name : '';
        expect(parseRoute(formatRoute({ page, id, query }))).toEqual({ page, id, query });
      }),
    );
  });
});
