import { defineStore } from 'pinia'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import { useAccounts } from './accounts.ts'
import { useAgents } from './agents.ts'
import { useSession } from './session.ts'

/** Somebody as the app shows them. */
export interface Face {
  readonly name: string
  readonly kind: 'agent' | 'person'
}

/** Names for ids. Somebody whose name the person at the screen may not see stays somebody. */
export const usePeople = defineStore('people', () => {
  const accounts = useAccounts()
  const agents = useAgents()
  const session = useSession()

  function face(assignee: Assignee): Face {
    if (assignee.type === 'agent') return { name: agents.byId.get(assignee.id)?.name ?? 'Agent', kind: 'agent' }
    const name = assignee.id === session.me?.id ? session.myName : accounts.nameOf(assignee.id)
    return { name: name ?? 'Somebody', kind: 'person' }
  }
  return {
    face,
    /** Everybody on a task, each once. */
    faces(roles: Readonly<Record<string, Assignee>>): Face[] {
      const byId = new Map(Object.values(roles).map((assignee) => [assignee.id as string, assignee]))
      return [...byId.values()].map(face)
    },
  }
})
