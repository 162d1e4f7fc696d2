import { useAgents } from './agents.ts'
import type { Face } from './people.ts'
import { useSession } from './session.ts'

/** Names for the `triggered_by` and `by` of the audit: `agent:<id>`, `user:<handle>`, `system`. */
export function useTaskActors() {
  const agents = useAgents()
  const session = useSession()
  return {
    actor(by: string): Face {
      const [kind, rest = ''] = by.split(/:(.*)/s)
      if (kind === 'agent') return { name: agents.byId.get(rest)?.name ?? 'An agent', kind: 'agent' }
      // The person at the machine is `local`, also before anybody has an account.
      const isMe = session.me ? session.me.handle === rest : rest === 'local'
      if (kind === 'user') return { name: isMe ? session.myName : rest, kind: 'person' }
      return { name: 'Copse', kind: 'agent' }
    },
  }
}
