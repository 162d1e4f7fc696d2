import { inject, provide, type InjectionKey, type Ref } from 'vue'

/** Letters by the name of an agent, distinct among all agents. */
type AgentLetters = Readonly<Ref<ReadonlyMap<string, string>>>

const key: InjectionKey<AgentLetters> = Symbol('agent letters')

/** Provides the letters of agents to all avatars below. */
export const provideAgentLetters = (letters: AgentLetters): void => provide(key, letters)
export const useAgentLetters = (): AgentLetters | null => inject(key, null)
