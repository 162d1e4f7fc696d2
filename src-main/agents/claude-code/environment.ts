/** What Claude Code tells processes that it starts; a service started from within one is no part of it. */
export const claudeUnsetEnv = ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT', 'CLAUDE_CODE_SESSION_ID']

/** What makes Claude Code quiet and unchanging for an unattended run. */
export const claudeDefaultEnv = (isRoot: boolean = isRootUser()): Readonly<Record<string, string>> => ({
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  // As root it refuses bypassPermissions unless told that the machine is there for it to use; who
  // runs the service as root (a container, a CI machine) has said so.
  ...(isRoot ? { IS_SANDBOX: '1' } : {}),
})

/** Never on Windows. */
const isRootUser = (): boolean => process.getuid?.() === 0
