/** Variables that Claude Code sets for its child processes; a service started from within one must not pass them on. */
export const claudeUnsetEnv = ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT', 'CLAUDE_CODE_SESSION_ID']

/** Variables that keep Claude Code quiet and unchanged in unattended runs. */
export const claudeDefaultEnv = (isRoot: boolean = isRootUser()): Readonly<Record<string, string>> => ({
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  // Claude Code refuses bypassPermissions as root unless told that it is in a sandbox; running the service as root (a
  // container, a CI machine) implies that.
  ...(isRoot ? { IS_SANDBOX: '1' } : {}),
})

/** Always false on Windows. */
const isRootUser = (): boolean => process.getuid?.() === 0
