// The configuration of `bash_recorder`: the seed's keys, defaults and examples, ours in addition,
// and a problem with a path for everything else.
import { describe, expect, it } from 'vitest';
import { recorderConfig, recorderSettings } from '../../../src/dialects/bash_recorder/config.ts';
import { RecorderPlugin } from '../../../src/dialects/bash_recorder/dialect.ts';
import { TRACE_DEFAULT } from '../../../src/limits.ts';
import { ConfigurationError } from '../../../src/recorder/errors.ts';
import { World } from '../../recorder/helper.ts';

const DEFAULTS = {
  recording: {
    enabled: true,
    directory: '/project/.cuff/recordings',
    captureEnv: false,
    envAllowlist: ['PATH', 'HOME', 'USER', 'SHELL', 'PWD'],
    captureOutput: true,
    outputBytesMax: 1_000_000,
    sessionMode: 'per_conversation',
    retentionDays: 30,
    strict: false,
    redact: false,
    leakWarning: true,
    trace: TRACE_DEFAULT,
  },
  execution: {
    defaultTimeoutSeconds: 120,
    maxTimeoutSeconds: 600,
    workingDirectory: '/project',
    shell: '/bin/bash',
    inheritEnv: true,
    envOverrides: {},
    onShutdown: 'kill',
  },
};

function settings(config: unknown) {
  return recorderSettings(config, '/project', '/state');
}

describe('a config', () => {
  it('may be empty, in whole or in part', () => {
    for (const config of [undefined, null, {}, { recording: null }, { execution: {} }]) {
      expect(recorderConfig.problems(config)).toEqual([]);
      expect(settings(config)).toEqual(DEFAULTS);
    }
  });

  it('may be the one of the development example', () => {
    const env_allowlist = ['PATH', 'HOME', 'USER', 'SHELL', 'PWD', 'VIRTUAL_ENV', 'NODE_ENV'];
    const { recording, execution } = settings({
      recording: {
        enabled: true,
        directory: '.cuff/recordings',
        capture_env: true,
        env_allowlist,
        capture_output: true,
        max_output_size: 5_000_000,
        session_mode: 'per_conversation',
        retention_days: 90,
      },
      execution: { default_timeout: 300, max_timeout: 600, shell: '/bin/bash' },
    });
    expect(recording).toEqual({
      ...DEFAULTS.recording,
      captureEnv: true,
      envAllowlist: env_allowlist,
      outputBytesMax: 5_000_000,
      retentionDays: 90,
    });
    expect(execution).toEqual({ ...DEFAULTS.execution, defaultTimeoutSeconds: 300 });
  });

  it('may be the one of the production example', () => {
    const config = {
      recording: {
        enabled: true,
        directory: '/var/log/cuff/recordings',
        capture_env: false,
        capture_output: false,
        session_mode: 'continuous',
        retention_days: 7,
      },
      execution: { default_timeout: 60, max_timeout: 120, shell: '/bin/sh' },
    };
    expect(settings(config)).toEqual({
      recording: {
        ...DEFAULTS.recording,
        directory: '/var/log/cuff/recordings',
        captureOutput: false,
        sessionMode: 'continuous',
        retentionDays: 7,
      },
      execution: {
        ...DEFAULTS.execution,
        defaultTimeoutSeconds: 60,
        maxTimeoutSeconds: 120,
        shell: '/bin/sh',
      },
    });
  });

  it('may be the one of the example for policies', () => {
    const recording = {
      enabled: true,
      directory: '.cuff/recordings',
      capture_env: false,
      capture_output: false,
      session_mode: 'continuous',
      retention_days: 0,
    };
    const execution = { default_timeout: 120, max_timeout: 600 };
    expect(settings({ recording, execution })).toEqual({
      ...DEFAULTS,
      recording: {
        ...DEFAULTS.recording,
        captureOutput: false,
        sessionMode: 'continuous',
        retentionDays: 0,
      },
    });
  });

  it('may have our own keys', () => {
    const config = {
      recording: { strict: true, redact: true },
      execution: { on_shutdown: 'leave', working_directory: 'sub' },
    };
    expect(settings(config)).toMatchObject({
      recording: { strict: true, redact: true },
      execution: { onShutdown: 'leave', workingDirectory: '/project/sub' },
    });
  });
});

describe('a problem', () => {
  it('has the path of its key', () => {
    const problems = recorderConfig.problems({
      recordin: {},
      recording: {
        enabled: 'yes',
        capture_outputs: true,
        session_mode: 'hourly',
        max_output_size: 1.5,
        retention_days: -1,
        env_allowlist: ['PATH', 'A=B'],
        directory: '',
      },
      execution: {
        default_timeout: 0,
        max_timeout: '600',
        env_overrides: { CI: true, 'A=B': 'x' },
        shell: 'a\0b',
        on_shutdown: 'ask',
      },
    });
    const paths = problems.map(({ path }) => path.join('.'));
    expect(paths.sort()).toEqual([
      'execution.default_timeout',
      'execution.env_overrides.A=B',
      'execution.env_overrides.CI',
      'execution.max_timeout',
      'execution.on_shutdown',
      'execution.shell',
      'recordin',
      'recording.capture_outputs',
      'recording.directory',
      'recording.enabled',
      'recording.env_allowlist.1',
      'recording.max_output_size',
      'recording.retention_days',
      'recording.session_mode',
    ]);
    expect(problems.find(({ path }) => path[0] === 'recordin')?.message).toBe('unknown key');
  });

  it('of anything that is no mapping is one of the whole', () => {
    expect(recorderConfig.problems('x')).toMatchObject([{ path: [] }]);
    expect(recorderConfig.problems([])).toMatchObject([{ path: [] }]);
    expect(recorderConfig.problems({ recording: [] })).toMatchObject([{ path: ['recording'] }]);
  });

  it('keeps the plugin from being made', () => {
    const make = (): unknown => new RecorderPlugin({ recording: { x: 1 } }, new World().services);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow('recording.x: unknown key');
    expect(RecorderPlugin.checkConfig({ recording: { x: 1 } })).toHaveLength(1);
  });
});

it('the schema for editors knows every key, and no other', () => {
  const { properties, additionalProperties } = RecorderPlugin.configSchema as {
    properties: Record<string, { properties: object; additionalProperties: boolean }>;
    additionalProperties: boolean;
  };
  expect(additionalProperties).toBe(false);
  expect(Object.keys(properties)).toEqual(['recording', 'execution']);
  expect(properties.recording?.additionalProperties).toBe(false);
  expect(Object.keys(properties.recording?.properties ?? {})).toHaveLength(12);
  expect(Object.keys(properties.execution?.properties ?? {})).toHaveLength(7);
});
