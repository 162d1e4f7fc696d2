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
    /** Returns all holders of a task's roles, each once. */
    faces(roles: Readonly<Record<string, Assignee>>): Face[] {
      const byId = new Map(Object.values(roles).map((assignee) => [assignee.id as string, assignee]))
      return [...byId.values()].map(face)
    },
    /**
     * Returns the person or agent behind a history entry's `triggered_by` or `by`: `agent:<id>`,
     * `user:<handle>`, `system`.
     */
    actor(by: string): Face {
      const [kind, rest = ''] = by.split(/:(.*)/s)
      if (kind === 'agent') return agent(rest)
      // The local operator is `local`, even before anyone has an account.
      const isMe = session.me ? session.me.handle === rest : rest === 'local'
      if (kind === 'user') return { name: isMe ? session.myName : rest, kind: 'person' }
      return { name: 'Copse', kind: 'agent' }
    },
    /** Returns the author of a comment. */
    author: ({ author }: Pick<Comment, 'author'>): Face => ({
      name: author.type === 'operator' ? session.myName : author.name,
      kind: author.type === 'agent' ? 'agent' : 'person',
    }),
    /** Returns the worker of an execution. */
    worker: ({ user_id, agent_id, executor }: Execution): Face =>
      user_id === null ? agent(agent_id ?? '', executor) : face({ type: 'user', id: user_id }),
  }
})
