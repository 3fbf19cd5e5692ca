// `NAME=VALUE` and `--flag=VALUE`, for the commands whose arguments are parsed by hand.

export function nameAndValue(argument: string): readonly [string, string | undefined] {
  const at = argument.indexOf('=');
  return at < 0 ? [argument, undefined] : [argument.slice(0, at), argument.slice(at + 1)];
}
