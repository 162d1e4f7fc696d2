import { defineStore } from 'pinia'
import { computed, shallowReactive, shallowRef } from 'vue'
import type { AgentTest } from '../../src-shared/contract/agent-profiles.ts'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import type { Agent, DetectedAgent } from '../../src-shared/contract/projects.ts'
import { useClient } from './client.ts'

/** The agents that may work, and the coding agents that were found on this machine. */
export const useAgents = defineStore('agents', () => {
  const client = useClient()
  const byId = shallowReactive(new Map<string, Agent>())
  const detected = shallowRef<readonly DetectedAgent[]>([])
  const detecting = shallowRef(false)
  const loaded = shallowRef(false)

  function put(agent: Agent): void {
    byId.set(agent.id, agent)
  }
  async function load(): Promise<void> {
    const { items } = await client.call('agents.list', {})
    const kept = new Set<string>(items.map((agent) => agent.id))
    for (const id of byId.keys()) if (!kept.has(id)) byId.delete(id)
    for (const agent of items) put(agent)
    loaded.value = true
  }
  async function detect(): Promise<void> {
    detecting.value = true
    try {
      detected.value = (await client.call('agents.detect', {})).items
    } finally {
      detecting.value = false
    }
  }
  return {
    byId,
    items: computed(() => [...byId.values()].sort((a, b) => a.name.localeCompare(b.name))),
    detected,
    detecting,
    loaded,
    put,
    load,
    detect,
    remove: (agentId: string) => void byId.delete(agentId),
    create: async (input: OperationInput<'agents.create'>): Promise<Agent> => {
      const agent = await client.call('agents.create', input)
      put(agent)
      return agent
    },
    update: async (input: OperationInput<'agents.update'>): Promise<void> =>
      put(await client.call('agents.update', input)),
    /** Those of the arguments that an agent of this kind would not get. */
    refusedArgs: async (input: OperationInput<'agents.check_args'>): Promise<readonly string[]> =>
      input.args.length === 0 ? [] : (await client.call('agents.check_args', input)).refused,
    test: (agentId: string): Promise<AgentTest> => client.call('agents.test', { agent_id: agentId }),
    delete: async (agentId: string): Promise<void> => {
      await client.call('agents.delete', { agent_id: agentId })
      byId.delete(agentId)
    },
  }
})
