import fc from 'fast-check';
import { expect, it } from 'vitest';
import { storedEnvironment } from '../../src/journal/environment.ts';

const ENV = {
  PATH: '/usr/bin',
  HOME: '/root',
  EMPTY: '',
  UNSET: undefined,
  API_KEY: 'k',
  CLIENT_SECRET: 's',
  GITHUB_TOKEN: 't',
  DB_PASSWORD: 'p',
  my_api_key: 'k2',
  AWS_REGION: 'eu-1',
  GITHUB_ACTOR: 'me',
  OPENAI_BASE: 'url',
};
const NAMES = Object.keys(ENV);

it('the environment is not stored unless it is asked for', () => {
  expect(storedEnvironment(ENV, { captureEnv: false, allowlist: NAMES })).toBeNull();
});

it('only variables that are named are stored', () => {
  const allowlist = ['PATH', 'EMPTY', 'UNSET', 'MISSING', 'PATH'];
  expect(storedEnvironment(ENV, { captureEnv: true, allowlist })).toEqual({
    PATH: '/usr/bin',
    EMPTY: '',
  });
  expect(storedEnvironment(ENV, { captureEnv: true, allowlist: [] })).toEqual({});
});

it('a name is a name: a pattern in the list names nothing', () => {
  for (const pattern of ['*', 'AWS_*', '.*', 'P?TH', '__proto__', 'toString']) {
    expect(storedEnvironment(ENV, { captureEnv: true, allowlist: [pattern] })).toEqual({});
  }
});

it('a secret is never stored, even if it is named', () => {
  const allowlist = ['API_KEY', 'CLIENT_SECRET', 'GITHUB_TOKEN', 'DB_PASSWORD', 'my_api_key'];
  expect(storedEnvironment(ENV, { captureEnv: true, allowlist })).toEqual({});
});

it('variables of cloud accounts are stored if they are named, and only then', () => {
  const cloud = { AWS_REGION: 'eu-1', GITHUB_ACTOR: 'me', OPENAI_BASE: 'url' };
  const allowlist = Object.keys(cloud);
  expect(storedEnvironment(ENV, { captureEnv: true, allowlist })).toEqual(cloud);
  const others = NAMES.filter((name) => !allowlist.includes(name));
  const stored = storedEnvironment(ENV, { captureEnv: true, allowlist: others });
  expect(Object.keys(stored ?? {})).toEqual(['PATH', 'HOME', 'EMPTY']);
});

it('no environment and no list lets a secret through', () => {
  const name = fc.oneof(
    fc.string(),
    fc
      .tuple(fc.string(), fc.constantFrom('_KEY', '_SECRET', '_TOKEN', '_PASSWORD'))
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(fc.dictionary(name, fc.string()), fc.array(name), (env, extra) => {
      const allowlist = [...Object.keys(env), ...extra];
      const stored = storedEnvironment(env, { captureEnv: true, allowlist });
      for (const key of Object.keys(stored ?? {})) {
        expect(key).not.toMatch(/_(KEY|SECRET|TOKEN|PASSWORD)$/);
        expect(Object.hasOwn(env, key)).toBe(true);
      }
    }),
  );
});
