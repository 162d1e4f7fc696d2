import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import type { OperationInput, OperationOutput } from '../../src-shared/contract/operations.ts'
import { useClient } from './client.ts'

/** What projects know: read where it is looked at, and told apart from what is kept by how often it has changed. */
export const useKnowledge = defineStore('knowledge', () => {
  const client = useClient()
  const changes = shallowReactive(new Map<string, number>())
  return {
    changed: (projectId: string): void => void changes.set(projectId, (changes.get(projectId) ?? 0) + 1),
    /** Grows with every change: whoever shows entries reads them again. */
    changesOf: (projectId: string): number => changes.get(projectId) ?? 0,
    list: (input: OperationInput<'knowledge.list'>): Promise<OperationOutput<'knowledge.list'>> =>
      client.call('knowledge.list', input),
    create: async (input: OperationInput<'knowledge.create'>): Promise<void> =>
      void (await client.call('knowledge.create', input)),
    update: async (input: OperationInput<'knowledge.update'>): Promise<void> =>
      void (await client.call('knowledge.update', input)),
    delete: async (knowledgeId: string): Promise<void> =>
      void (await client.call('knowledge.delete', { knowledge_id: knowledgeId })),
  }
})
