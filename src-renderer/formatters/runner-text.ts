import type { Execution } from '../../src-shared/contract/executions.ts'
import type { Runner, RunnerKind, RunnerState } from '../../src-shared/contract/runners.ts'

export const runnerKindLabels: Readonly<Record<RunnerKind, string>> = {
  here: 'This machine',
  container: 'Container',
  ssh: 'SSH',
  kubernetes: 'Kubernetes',
  daemon: 'Remote machine',
}

export const runnerStateLabels: Readonly<Record<RunnerState, string>> = {
  ready: 'Ready',
  unreachable: 'Can’t be reached',
  outdated: 'Outdated',
  unchecked: 'Not checked yet',
}

/** Returns the name of a runner in a list of choices, with its state unless it is ready. */
export const runnerChoice = ({ name, state }: Pick<Runner, 'name' | 'state'>): string =>
  state === 'ready' ? name : `${name} (${runnerStateLabels[state].toLowerCase()})`

/** Says how many runs a runner has, and how many it takes. */
export function runnerLoad({ running, capacity }: Pick<Runner, 'running' | 'capacity'>): string {
  return capacity === null ? `${running} running` : `${running} of ${capacity} running`
}

/** Says why nothing can start on a runner, and what to do; null if it is ready. */
export function runnerTrouble({
  name,
  state,
  last_error,
}: Pick<Runner, 'name' | 'state' | 'last_error'>): string | null {
  switch (state) {
    case 'ready':
      return null
    case 'unchecked':
      return `${name} isn’t checked yet.`
    case 'outdated':
      return [`${name} has another version of Copse.`, last_error ?? ''].join(' ').trim()
    case 'unreachable':
      return [`${name} can’t be reached.`, last_error ?? ''].join(' ').trim()
  }
}

/** Says that a running agent is out of contact, with the runner on which it runs; null if it isn't. */
export function contactTrouble(
  { status, link }: Pick<Execution, 'status' | 'link'>,
  runner: Pick<Runner, 'name' | 'state' | 'last_error'> | null,
): string | null {
  if (status !== 'running') return null
  if (link?.state === 'lost')
    return `Lost contact with ${runner?.name ?? 'the runner'}. The run continues there, and Copse catches up when it is back.`
  return runner?.state === 'unreachable' ? runnerTrouble(runner) : null
}
