import { defineStore } from 'pinia'
import type { OperationInput, OperationOutput } from '../../../src-shared/contract/operations.ts'
import { createChangeCounter } from '../base/change-counter.ts'
import { useClient } from '../base/client.ts'

/** The knowledge of projects. Entries are loaded when shown, and again when the change count grows. */
export const useKnowledge = defineStore('knowledge', () => {
  const client = useClient()
  return {
    ...createChangeCounter(),
    list: (input: OperationInput<'knowledge.list'>): Promise<OperationOutput<'knowledge.list'>> =>
      client.call('knowledge.list', input),
    create: async (input: OperationInput<'knowledge.create'>): Promise<void> =>
      void (await client.call('knowledge.create', input)),
    update: async (input: OperationInput<'knowledge.update'>): Promise<void> =>
      void (await client.call('knowledge.update', input)),
    accept: async (input: OperationInput<'knowledge.accept'>): Promise<void> =>
      void (await client.call('knowledge.accept', input)),
    delete: async (knowledgeId: string): Promise<void> =>
      void (await client.call('knowledge.delete', { knowledge_id: knowledgeId })),
  }
})
