import { getOrCreateWorkerPoolSingleton, type WorkerPoolManager } from '@pierre/diffs/worker'
import { diffTheme } from './diff-theme.ts'

/**
 * The workers that colour code, shared by all viewers. Undefined where a page may not start module workers
 * (opened as a file): the viewer then colours on the main thread, as it does by itself when a worker fails.
 */
export function diffWorkers(): WorkerPoolManager | undefined {
  if (location.protocol === 'file:' || typeof Worker === 'undefined') return undefined
  return getOrCreateWorkerPoolSingleton({
    poolOptions: {
      poolSize: 2,
      workerFactory: () => new Worker(new URL('@pierre/diffs/worker/worker.js', import.meta.url), { type: 'module' }),
      // Reported once by the pool's own fallback; a worker that cannot start must not look like a bug.
      onWorkerError: (event) => event.preventDefault(),
    },
    highlighterOptions: { theme: diffTheme(), preferredHighlighter: 'shiki-js', lineDiffType: 'word' },
  })
}
