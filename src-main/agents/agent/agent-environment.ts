import { childEnvironment } from '../../platform/process/process-environment.ts'
import type { AgentProfile, Variables } from './agent-profile.ts'

type Given = Readonly<Record<string, string>>

/**
 * Composes an agent's environment: the person's variables, defaults for unattended runs, the agent's `config`, then
 * the `run`'s variables, which nothing overrides.
 */
export function agentEnvironment(
  { defaultEnv, unsetEnv = [] }: Pick<AgentProfile, 'defaultEnv' | 'unsetEnv'>,
  config: Given,
  run: Given,
  inherited: Variables,
): Record<string, string> {
  const person = { ...inherited }
  for (const name of unsetEnv) delete person[name]
  return { ...childEnvironment({}, person), ...defaultEnv(), ...config, ...run }
}
