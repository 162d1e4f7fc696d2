import { watch, type FSWatcher } from 'node:fs'
import { sep } from 'node:path'
import { parentsOf } from '../commands/tree-paths.ts'
import type { FolderWatches, FolderWatchOptions } from './folder-watches.ts'

/** Like `createFolderWatches`, by one watch of the whole tree: for systems that do this by themselves. */
export function createTreeWatch({ root, isLeftOut, onEvent }: FolderWatchOptions): FolderWatches {
  let watcher: FSWatcher | null = null
  const onChange = (event: string, name: Buffer | null) => {
    const path = name?.toString('latin1') ?? ''
    const key = sep === '/' ? path : path.replaceAll(sep, '/')
    const above = [key, ...parentsOf(key)]
    if (above.some((folder) => isLeftOut(folder) || folder.endsWith('/.git'))) return
    onEvent(key, event === 'rename')
  }
  return {
    cover: (): Promise<void> => {
      watcher ??= watch(root, { persistent: false, recursive: true, encoding: 'buffer' }, onChange).on('error', () => {
        onEvent('', true)
      })
      return Promise.resolve()
    },
    has: () => false,
    size: () => (watcher ? 1 : 0),
    close: () => {
      watcher?.close()
      watcher = null
    },
  }
}
