import { policyOf } from '../../domain/access/permissions.ts'
import type { UnaskedActions } from '../../ports/executors.ts'
import type { AgentSessionListener } from '../agent/agent-profile.ts'
import type { PermissionRequest, Permissions } from '../agent/permissions.ts'
import type { AgentRun } from '../definition.ts'

/** Notices what an agent does without asking although it must ask: the protocol can't make it. */
export interface UnaskedCalls {
  /** Takes a call that has ended well. */
  ended(id: string, call: PermissionRequest): void
  /** Returns what was done without asking; undefined: nothing. */
  result(): UnaskedActions | undefined
}

export interface UnaskedOptions {
  readonly run: Pick<AgentRun, 'config'>
  readonly permissions: Permissions
  /** Whether the agent has asked about a call. */
  readonly wasAsked: (id: string) => boolean
  readonly listener: Pick<AgentSessionListener, 'onEntry' | 'now'>
}

const maxNamed = 20
/** Calls that change something, with their verbs; how agents think and plan needs no permission. */
const verbs: Readonly<Record<string, string>> = { run: 'ran', edit: 'changed', write: 'wrote' }

export function createUnaskedCalls({ run, permissions, wasAsked, listener }: UnaskedOptions): UnaskedCalls {
  const policy = policyOf(run.config)
  const named: string[] = []
  let count = 0
  return {
    ended: (id, call) => {
      const verb = verbs[call.action]
      if (policy === 'all' || verb === undefined || wasAsked(id)) return
      void permissions.mayActAlone(call).then((allowed) => {
        if (allowed) return
        count += 1
        const done = `${verb} ${call.target ?? call.tool}`
        if (named.length < maxNamed) named.push(done)
        if (count > 1) return
        const text = `The agent ${done} without asking, although its permissions are \`${policy}\`. Stop it, or contain it.`
        listener.onEntry({ type: 'error', at: listener.now(), text })
      })
    },
    result: () => (count === 0 ? undefined : { count, actions: named }),
  }
}
