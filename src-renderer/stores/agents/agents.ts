import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { HomePlace } from '../../../src-shared/contract/containment.ts'
import type { AgentTest } from '../../../src-shared/contract/agent-tests.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Agent, AgentSignIn, DetectedAgent } from '../../../src-shared/contract/projects.ts'
import { agentLetters } from '../../formatters/initials.ts'
import { useClient } from '../base/client.ts'
import { createEntityStore } from '../base/entity-store.ts'

/** The configured agents, and the coding agents that were detected on this machine. */
export const useAgents = defineStore('agents', () => {
  const client = useClient()
  const { byId, loaded, put, remove, take, replace } = createEntityStore<Agent>()
  const detected = shallowRef<readonly DetectedAgent[]>([])
  const detecting = shallowRef(false)
  const signIns = shallowRef<ReadonlyMap<string, AgentSignIn>>(new Map())

  async function detect(): Promise<void> {
    detecting.value = true
    try {
      detected.value = (await client.call('agents.detect', {})).items
    } finally {
      detecting.value = false
    }
  }
  /** Checks for each agent whether it can work as it is configured, and stores the results in `signIns`. */
  async function checkSignIns(): Promise<void> {
    const { items } = await client.call('agents.sign_ins', {})
    signIns.value = new Map(items.map((item) => [item.agent_id, item]))
  }
  return {
    byId,
    items: computed(() => [...byId.values()].sort((a, b) => a.name.localeCompare(b.name))),
    /** Letters by the name of an agent, distinct among all; two with the same name share them. */
    letters: computed((): ReadonlyMap<string, string> => {
      const letters = agentLetters([...byId.values()])
      return new Map([...byId.values()].map(({ id, name }) => [name, letters.get(id) ?? name]))
    }),
    detected,
    detecting,
    signIns,
    checkSignIns,
    loaded,
    put,
    load: (): Promise<void> => replace(() => client.call('agents.list', {})),
    detect,
    remove,
    create: (input: OperationInput<'agents.create'>): Promise<Agent> => take(() => client.call('agents.create', input)),
    /** Adds an agent for a program that was found on this machine. */
    addFound: ({ executor, name }: DetectedAgent): Promise<Agent> =>
      take(() => client.call('agents.create', { name, executor })),
    update: async (input: OperationInput<'agents.update'>): Promise<void> =>
      void (await take(() => client.call('agents.update', input))),
    /** Returns the files that contained runs wrote to the agent's private home. */
    home: async (agentId: string): Promise<readonly HomePlace[]> =>
      (await client.call('agents.home', { agent_id: agentId })).items,
    keep: async (agentId: string, paths: readonly string[]): Promise<void> =>
      void (await take(() => client.call('agents.keep', { agent_id: agentId, paths: [...paths] }))),
    /** Returns the arguments that this kind of agent would not receive. */
    refusedArgs: async (input: OperationInput<'agents.check_args'>): Promise<readonly string[]> =>
      input.args.length === 0 ? [] : (await client.call('agents.check_args', input)).refused,
    test: (agentId: string): Promise<AgentTest> => client.call('agents.test', { agent_id: agentId }),
    delete: async (agentId: string): Promise<void> => {
      await client.call('agents.delete', { agent_id: agentId })
      remove(agentId)
    },
  }
})
