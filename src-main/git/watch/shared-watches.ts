import type { WatchEvent, WorktreeWatch } from '../../ports/diff-reader.ts'
import type { WatchOfWorktree } from './watch-worktree.ts'

interface Shared {
  readonly listeners: Set<WatchEvent>
  readonly watch: Promise<WatchOfWorktree>
}

/** Lets all who watch a worktree share one watch, which ends with the last of them. */
export function createSharedWatches(start: (root: string, news: WatchEvent) => Promise<WatchOfWorktree>) {
  const byRoot = new Map<string, Shared>()

  const open = (root: string): Shared => {
    const listeners = new Set<WatchEvent>()
    const watch = start(root, {
      onChange: (paths) => {
        for (const listener of [...listeners]) listener.onChange(paths)
      },
      onEnd: () => {
        if (byRoot.get(root) === shared) byRoot.delete(root)
        for (const listener of [...listeners]) listener.onEnd()
      },
    })
    const shared: Shared = { listeners, watch }
    byRoot.set(root, shared)
    return shared
  }
  return {
    open: async (root: string, news: WatchEvent): Promise<WorktreeWatch> => {
      const shared = byRoot.get(root) ?? open(root)
      // A listener of its own for each caller, also where two pass the same object.
      const listener: WatchEvent = { onChange: (paths) => news.onChange(paths), onEnd: () => news.onEnd() }
      shared.listeners.add(listener)
      const leave = async (): Promise<void> => {
        shared.listeners.delete(listener)
        if (shared.listeners.size > 0) return
        if (byRoot.get(root) === shared) byRoot.delete(root)
        await (await shared.watch).close()
      }
      try {
        const watch = await shared.watch
        watch.lookSoon()
        let closed: Promise<void> | null = null
        return { how: () => (closed === null ? watch.how() : 'ended'), close: () => (closed ??= leave()) }
      } catch (error) {
        shared.listeners.delete(listener)
        if (byRoot.get(root) === shared) byRoot.delete(root)
        throw error
      }
    },
  }
}
