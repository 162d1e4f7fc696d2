import { executorInfos } from '../../../../src-shared/contract/executor-profiles.ts'
import type { Agent } from '../../../../src-shared/contract/projects.ts'

/** What a check said about the program of an agent. */
interface SignIn {
  readonly installed: boolean
  readonly signed_in: boolean | null
  readonly hint: string | null
}

/** Returns the facts about an agent that matter before it gets work. `load`: the number of its runs. */
export function aboutAgent(agent: Agent, load: number, known: SignIn | undefined): string {
  if (agent.paused) return 'Paused'
  const { model, effort } = agent.config
  const hint = known && (!known.installed || known.signed_in === false) ? known.hint : null
  if (hint !== null) return `${known?.installed ? 'Not signed in' : 'Not installed'}. ${hint}`
  return [
    executorInfos[agent.executor].name,
    ...(model === undefined ? [] : [model]),
    ...(effort === undefined ? [] : [`${effort} effort`]),
    ...(load === 0 ? [] : [`${load} running`]),
  ].join(' · ')
}

/** Says which tasks a task waits for, and what a choice does then; null if it waits for none. */
export function waitsText(refs: readonly string[]): string | null {
  const [first, second, ...others] = refs
  if (first === undefined) return null
  if (second === undefined) return `Waits for ${first}. It starts automatically once that is done.`
  const rest = others.length === 0 ? second : `${others.length + 1} more`
  return `Waits for ${first} and ${rest}. It starts automatically once they are done.`
}
