/** Returns the program and arguments for `spawnTree` that run a command line on this system. */
export function shellCommand(
  command: string,
  args: readonly string[] = [],
): { readonly file: string; readonly args: readonly string[]; readonly verbatimArguments: boolean } {
  if (process.platform === 'win32') {
    const words = [command, ...args.map((arg) => `"${arg.replaceAll('"', '""')}"`)]
    return { file: 'cmd.exe', args: ['/d', '/s', '/c', `"${words.join(' ')}"`], verbatimArguments: true }
  }
  // Passed as arguments, so that the shell never reads them as code.
  const line = args.length > 0 ? `${command} "$@"` : command
  return { file: '/bin/sh', args: ['-c', line, 'sh', ...args], verbatimArguments: false }
}

/** Returns shell words for exactly these texts. */
export const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
