/** A git command that failed. `stderr` is for people and logs, never for decisions. */
export class GitError extends Error {
  override readonly name = 'GitError'
  readonly code: 'failed' | 'not_installed' | 'no_directory' | 'too_much_output'
  readonly args: readonly string[]
  readonly exit_code: number | null
  readonly stderr: string

  constructor(
    code: GitError['code'],
    details: { readonly args: readonly string[]; readonly exit_code?: number | null; readonly stderr?: string },
    options?: ErrorOptions,
  ) {
    super(describe(code, details.args, details.stderr ?? ''), options)
    this.code = code
    this.args = details.args
    this.exit_code = details.exit_code ?? null
    this.stderr = details.stderr ?? ''
  }
}

function describe(code: GitError['code'], args: readonly string[], stderr: string): string {
  switch (code) {
    case 'not_installed':
      return 'git could not be started. Install git (2.38 or newer) and see that it is on the PATH.'
    case 'no_directory':
      return 'The folder that git should work in does not exist.'
    case 'too_much_output':
      return `git ${verb(args)} answered more than can be taken.`
    case 'failed': {
      const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('hint:'))
      const telling = lines.find((line) => /^(?:fatal|error):/.test(line)) ?? lines[0]
      return unreadable(stderr) ?? `git ${verb(args)} failed${telling ? `: ${telling}` : '.'}`
    }
  }
}

/** Explains that git can't read the repository's configuration, and the mend; null if `stderr` says something else. */
function unreadable(stderr: string): string | null {
  const [, extension] = /^fatal: unknown repository extensions? found:\n\s*(\S+)/im.exec(stderr) ?? []
  const changed = 'If a program changed it'
  if (extension !== undefined)
    return (
      `git can’t read this repository: its configuration needs the extension “${extension}”, which this git doesn’t ` +
      `know. Update git. ${changed}, run: git config --file .git/config --unset extensions.${extension}`
    )
  const [, version] = /^fatal: expected git repo version .*found (\d+)/im.exec(stderr) ?? []
  if (version !== undefined)
    return (
      `git can’t read this repository: its configuration says version ${version}, which this git doesn’t know. ` +
      `Update git. ${changed}, run: git config --file .git/config core.repositoryformatversion 0`
    )
  const [, line, file] = /^fatal: bad (?:config|numeric config value).*?line (\d+) in file (.+)$/im.exec(stderr) ?? []
  if (line !== undefined)
    return `git can’t read its configuration: line ${line} of ${file} is not valid. Correct or delete it, then try again.`
  return null
}

/** Options of git whose value is the next argument. */
const takesValue: ReadonlySet<string> = new Set(['-c', '-C', '--git-dir', '--work-tree', '--namespace'])

function verb(args: readonly string[]): string {
  const start = args.findIndex((arg, index) => !arg.startsWith('-') && !takesValue.has(args[index - 1] ?? ''))
  const name = args[start] ?? ''
  return name === 'worktree' ? `${name} ${args[start + 1] ?? ''}` : name
}
