// The settings file that `cuff init` writes: the two built-in plugins, and every key as a comment
// with its default.

import { TRACE_DEFAULT } from '../../limits.ts';

export const SETTINGS_TEMPLATE = `# Settings of cuff. Everything is optional.
# A key that is commented out shows its default.
# A running \`cuff mcp\` takes changes at once, and refuses a file that is wrong as a whole.
# \${NAME} in a value is that environment variable; $\${ is a literal \${.

plugins:
  # Runs commands for an agent and keeps a journal of them.
  bash_recorder:
    enabled: true
    config:
      recording:
        # enabled: true
        # directory: .cuff/recordings
        # capture_output: true
        # max_output_size: 1000000      # bytes of each stream in an entry
        # session_mode: per_conversation  # or per_day, continuous
        # retention_days: 30            # 0 keeps everything
        # capture_env: false
        # env_allowlist: [PATH, HOME, USER, SHELL, PWD]
        # redact: false                 # secrets of the environment in stored output
        # leak_warning: true            # say so when a command prints a known secret
        # strict: false                 # refuse to run what cannot be recorded
        # trace: ${TRACE_DEFAULT.padEnd(22)} # every process of a command: on, off or auto
      execution:
        # default_timeout: 120          # seconds
        # max_timeout: 600
        # working_directory: null       # where the server was started
        # shell: /bin/bash
        # inherit_env: true
        # env_overrides: {}
        # on_shutdown: kill             # or leave

  # Other tools to run commands with: cuff_shell, claude_code, codex, pipe_bash, phoenix_bash.
  # They record as bash_recorder does. \`cuff mcp --dialect NAME\` takes one instead of all others.
  # cuff_shell:
  #   enabled: true

  # Lists, reads and follows captures. It cannot start anything.
  derun:
    enabled: true

# How tools are listed: underscore (bash_recorder_execute) or dotted (bash_recorder.execute).
# tool_names: underscore

# Questions to the person at the client. A program that answers them for you needs 0.
# ask:
#   min_ms: 1000                        # an answer in less time counts as none
`;
