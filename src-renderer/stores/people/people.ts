import { defineStore } from 'pinia'
import type { Comment } from '../../../src-shared/contract/comments.ts'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import type { Assignee } from '../../../src-shared/contract/tasks.ts'
import { useAccounts } from './accounts.ts'
import { useAgents } from '../agents/agents.ts'
import { useSession } from '../base/session.ts'

/** A person or agent as the app shows them. */
export interface Face {
  readonly name: string
  readonly kind: 'agent' | 'person'
}

/** Names for IDs. A person whose name the viewer may not see remains unnamed. */
export const usePeople = defineStore('people', () => {
  const accounts = useAccounts()
  const agents = useAgents()
  const session = useSession()

  const agent = (id: string, name = 'Agent'): Face => ({ name: agents.byId.get(id)?.name ?? name, kind: 'agent' })
  function face(assignee: Assignee): Face {
    if (assignee.type === 'agent') return agent(assignee.id)
    const name = assignee.id === session.me?.id ? session.myName : accounts.nameOf(assignee.id)
    return { name: name ?? 'Someone', kind: 'person' }
  }
  return {
    face,
    /** Everyone on a task, each once. */
    faces(roles: Readonly<Record<string, Assignee>>): Face[] {
      const byId = new Map(Object.values(roles).map((assignee) => [assignee.id as string, assignee]))
      return [...byId.values()].map(face)
    },
    /** The person or agent that the history names in `triggered_by` and `by`: `agent:<id>`, `user:<handle>`, `system`. */
    actor(by: string): Face {
      const [kind, rest = ''] = by.split(/:(.*)/s)
      if (kind === 'agent') return agent(rest)
      // The person at the machine is `local`, also before anybody has an account.
      const isMe = session.me ? session.me.handle === rest : rest === 'local'
      if (kind === 'user') return { name: isMe ? session.myName : rest, kind: 'person' }
      return { name: 'Copse', kind: 'agent' }
    },
    /** The author of a comment. */
    author: ({ author }: Pick<Comment, 'author'>): Face => ({
      name: author.type === 'operator' ? session.myName : author.name,
      kind: author.type === 'agent' ? 'agent' : 'person',
    }),
    /** The worker of a run. */
    worker: ({ user_id, agent_id, executor }: Execution): Face =>
      user_id === null ? agent(agent_id ?? '', executor) : face({ type: 'user', id: user_id }),
  }
})
