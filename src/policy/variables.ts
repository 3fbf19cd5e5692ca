// Variables of the environment as a policy sees them: a few are harmless whatever they say, a few
// only with some values, many change what programs run, and the effect of the others is unknown.

import { isListed } from './facts.ts';

/** A name, not a file with messages, characters or rules in it. */
const NAMED = /^[\w.@:-]*$/;

/** Harmless with these values. */
const HARMLESS_VALUES: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    `TERM LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME`
      .split(' ')
      .map((name) => [name, NAMED]),
  ),
  TZ: /^[A-Za-z][\w+-]*(?:\/[A-Za-z][\w+-]*)*$/,
  // The sources of the project, which are loaded anyway.
  PYTHONPATH: /^(?:\.|(?:\.\/)?src\/?)(?::(?:\.|(?:\.\/)?src\/?))*$/,
  CGO_ENABLED: /^[01]$/,
  GOOS: /^[a-z0-9]+$/,
  GOARCH: /^[a-z0-9]+$/,
  PAGER: /^(?:cat|)$/,
  GIT_PAGER: /^(?:cat|)$/,
  MANPAGER: /^(?:cat|)$/,
  GIT_EDITOR: /^(?:true|:)$/,
  EDITOR: /^(?:true|:)$/,
};

/** They choose programs, libraries, configuration or credentials. */
const DANGEROUS = new RegExp(
  [
    '^(?:PATH|IFS|ENV|HOME|SHELL|CDPATH|FPATH|MANPATH|MANOPT|MANROFFOPT|FCEDIT|POSIXLY_CORRECT)$',
    '^(?:BASH_.*|BASHOPTS|SHELLOPTS|PS[0-4]|PROMPT_COMMAND|GLOBIGNORE|EXECIGNORE|HISTFILE)$',
    '^(?:LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|MALLOC_.*|GLIBC_TUNABLES|HOSTALIASES|INPUTRC)$',
    '^(?:TMPDIR|TEMP|TMP|XDG_.*|TERMINFO.*|TERMCAP|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESS.*)$',
    '^(?:GIT_.*|SSH_.*|GPG_.*|GNUPGHOME|RSYNC_RSH|CVS_RSH|SUDO_.*|DOCKER_.*|KUBE.*|HELM_.*)$',
    '^(?:NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|npm_.*|NPM_.*|YARN_.*|PNPM_.*|BUN_.*|DENO_.*)$',
    '^(?:PYTHON.*|PIP_.*|UV_.*|VIRTUAL_ENV|CONDA_.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|PHP.*|LUA_.*)$',
    '^(?:CC|CXX|CPP|LD|AR|AS|RUSTC.*|RUSTFLAGS|CARGO_.*|RUSTUP_.*|GO[A-Z]*|CGO_.*|MAKE.*|MFLAGS)$',
    '^(?:JAVA_.*|_JAVA_OPTIONS|JDK_.*|MAVEN_.*|GRADLE_.*|CLASSPATH|CFLAGS|CXXFLAGS|LDFLAGS)$',
    '^(?:.*_PROXY|.*_proxy|ALL_PROXY|SSL_.*|CURL_.*|WGETRC|OPENSSL_.*|REQUESTS_.*|AWS_.*)$',
    '^(?:TF_.*|ANSIBLE_.*|VAGRANT_.*|PGPASSFILE|PGSERVICE.*|MYSQL_.*|SQLITE.*|.*_ASKPASS)$',
    '^(?:.*_EDITOR|RES_OPTIONS)$',
    '^(?:.*_WRAPPER|.*_PRELOAD|.*_SHELL|.*_COMMAND|.*_OPTIONS|.*_CONFIG|CUFF_.*|DERUN_.*)$',
  ].join('|'),
);

export type VariableClass = 'harmless' | 'dangerous' | 'other';

/** `listed` are the names that a policy allows, `FOO_*` too. */
export function variableClass(
  name: string,
  value: string | undefined,
  listed: (name: string) => boolean,
): VariableClass {
  if (listed(name) || isListed('harmless-variables', name)) return 'harmless';
  const values = Object.hasOwn(HARMLESS_VALUES, name) ? HARMLESS_VALUES[name] : undefined;
  if (values !== undefined && value !== undefined && values.test(value)) return 'harmless';
  return DANGEROUS.test(name) ? 'dangerous' : 'other';
}

export function listedNames(names: readonly string[]): (name: string) => boolean {
  const exact = new Set(names.filter((name) => !name.endsWith('*')));
  const starts = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (name) => exact.has(name) || starts.some((start) => name.startsWith(start));
}

const SECRET_NAME = new RegExp(
  [
    'KEY|TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIAL|AUTH(?!OR)|COOKIE|PRIVATE|_PAT$|_DSN$',
    'JWT|WEBHOOK|_PASS$|_PWD$|CONN(?:ECTION)?_?STR',
    // Addresses with a password in them.
    '(?:DATABASE|DB|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|PG|MYSQL|AMQP|RABBITMQ|BROKER)_UR[IL]$',
  ].join('|'),
  'i',
);
const SECRET_START = /^(?:AWS|GITHUB|GITLAB|OPENAI|ANTHROPIC|AZURE|GOOGLE|GCP|NPM|SLACK|STRIPE)_/;

/** Whether words as written, like `$AWS_SECRET_ACCESS_KEY`, would show what is in a secret. */
export function showsSecret(source: string): boolean {
  for (const [, name = ''] of source.matchAll(/\$\{?[!#]?([A-Za-z_]\w*)/g)) {
    if (SECRET_NAME.test(name) || SECRET_START.test(name)) return true;
  }
  return false;
}
