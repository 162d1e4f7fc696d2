import { executorInfos } from '../../../src-shared/contract/executor-profiles.ts'
import type { DetectedAgent } from '../../../src-shared/contract/projects.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { readVersion } from './read-version.ts'
import type { AgentProgram, Variables } from './agent-profile.ts'
import { findProgram, homeOf } from './find-program.ts'

/** Whether an agent is installed, where, which version, and signed in; one that can't even tell its version is not. */
export async function detectAgent(
  about: AgentProgram,
  environment: Variables,
  options: Cancellable,
): Promise<DetectedAgent> {
  const found = { executor: about.executor, name: executorInfos[about.executor].name, signed_in: null } as const
  const path = findProgram(about, null, environment)
  if (path === null) return { ...found, installed: false, path: null, version: null, hint: about.installHint }
  const version = await readVersion(path, options)
  if (version === null) {
    const hint = `${path} does not answer to --version. ${about.installHint}`
    return { ...found, installed: false, path, version: null, hint }
  }
  const signed_in = about.signedIn?.(environment, homeOf(environment)) ?? null
  return { ...found, installed: true, path, version, signed_in, hint: signed_in === false ? about.signInHint : null }
}
