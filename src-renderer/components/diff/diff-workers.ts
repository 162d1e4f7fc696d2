import { getOrCreateWorkerPoolSingleton, type WorkerPoolManager } from '@pierre/diffs/worker'
import { diffTheme } from './diff-theme.ts'

/**
 * Returns the highlighting workers, shared by all viewers. Undefined where a page may not start
 * module workers (opened as a file): the viewer then highlights on the main thread, as it also does
 * when a worker fails.
 */
export function diffWorkers(): WorkerPoolManager | undefined {
  if (location.protocol === 'file:' || typeof Worker === 'undefined') return undefined
  return getOrCreateWorkerPoolSingleton({
    poolOptions: {
      poolSize: 2,
      workerFactory: () => new Worker(new URL('@pierre/diffs/worker/worker.js', import.meta.url), { type: 'module' }),
      // The pool's own fallback already reports this once; a worker that can't start must not look like a bug.
      onWorkerError: (event) => event.preventDefault(),
    },
    highlighterOptions: { theme: diffTheme(), preferredHighlighter: 'shiki-js', lineDiffType: 'word' },
  })
}
