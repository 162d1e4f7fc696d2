import { executorInfos } from '../../../src-shared/contract/executor-profiles.ts'
import type { DetectedAgent } from '../../../src-shared/contract/projects.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { Detection } from '../definition.ts'
import { readVersion } from './read-version.ts'
import { askProgram } from './ask-program.ts'
import type { AgentProgram, Variables } from './agent-profile.ts'
import { findProgram, homeOf } from './find-program.ts'

/**
 * Detects whether and where an agent is installed, its version and sign-in; a program that can't report its version
 * counts as missing. With `config`, detects as an agent configured so would. Whether it is signed in shows on this
 * machine only, because elsewhere each agent has a home of its own.
 */
export async function detectAgent(
  about: AgentProgram,
  inherited: Variables,
  { config, programs, signal }: Detection,
): Promise<DetectedAgent> {
  const environment = { ...inherited, ...config?.env }
  const found = { executor: about.executor, name: executorInfos[about.executor].name, signed_in: null } as const
  const command = config?.command?.trim() || null
  const path = programs
    ? await programs.find(command ?? about.program, { signal })
    : findProgram(about, command, environment)
  if (path === null) return { ...found, installed: false, path: null, version: null, hint: about.installHint }
  const version = await readVersion(path, { signal, programs })
  if (version === null) {
    const hint = `${path} does not answer to --version. ${about.installHint}`
    return { ...found, installed: false, path, version: null, hint }
  }
  const signed_in = programs ? null : await findSignIn(about, path, environment, { signal })
  return { ...found, installed: true, path, version, signed_in, hint: signed_in === false ? about.signInHint : null }
}

/** Asks the agent; files on this machine decide if it does not know or may be wrong. */
async function findSignIn(
  { signedIn, signInStatus }: AgentProgram,
  path: string,
  environment: Variables,
  options: Cancellable,
): Promise<boolean | null> {
  const seen = signedIn?.(environment, homeOf(environment)) ?? null
  const answer = signInStatus ? await askProgram(path, signInStatus.args, { ...options, env: environment }) : null
  const word = answer && signInStatus ? signInStatus.read(answer) : null
  if (word !== false) return word ?? seen
  // Its settings may contain a key that the agent does not count as an account.
  return seen === null ? null : false
}
