import { childEnvironment } from '../../base/process-environment.ts'

type Variables = Readonly<Record<string, string>>

/** What Claude Code tells processes that it starts; a service started from within one is no part of it. */
const ownMarks = ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT', 'CLAUDE_CODE_SESSION_ID']

/**
 * The environment of Claude Code: the person's own, quiet and unchanging for an unattended run, then
 * the agent's `config`, then the `run`'s variables, which nothing overrides.
 */
export function claudeEnvironment(
  config: Variables,
  run: Variables,
  inherited: Readonly<Record<string, string | undefined>>,
  isRoot: boolean,
): Record<string, string> {
  const person = { ...inherited }
  for (const name of ownMarks) delete person[name]
  return {
    ...childEnvironment({}, person),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // As root it refuses bypassPermissions unless told that the machine is there for it to use; who
    // runs the service as root (a container, a CI machine) has said so.
    ...(isRoot ? { IS_SANDBOX: '1' } : {}),
    ...config,
    ...run,
  }
}

/** Whether this process runs as root; never on Windows. */
export const isRootUser = (): boolean => process.getuid?.() === 0
