import { shallowReactive } from 'vue'

/** Counts the changes of something of each project; what shows it has the count in its key, and asks again. */
export function createChangeCounter() {
  const changes = shallowReactive(new Map<string, number>())
  return {
    changed: (projectId: string): void => void changes.set(projectId, (changes.get(projectId) ?? 0) + 1),
    changesOf: (projectId: string): number => changes.get(projectId) ?? 0,
  }
}
