import { shallowReactive } from 'vue'

/** Counts changes per project. A query puts the count in its key, so each change makes it reload. */
export function createChangeCounter() {
  const changes = shallowReactive(new Map<string, number>())
  return {
    changed: (projectId: string): void => void changes.set(projectId, (changes.get(projectId) ?? 0) + 1),
    changesOf: (projectId: string): number => changes.get(projectId) ?? 0,
  }
}
