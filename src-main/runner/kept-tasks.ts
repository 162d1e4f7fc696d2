import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { TaskId } from '../../src-shared/contract/ids.ts'
import { parseJson } from '../../src-shared/lang/parse-json.ts'
import { describeWork, taskClone } from '../git/sending/task-clone.ts'
import type { KeyedLock } from '../platform/locks/keyed-lock.ts'
import type { Logger } from '../platform/logging/log.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { taskFolder, tasksFolder } from './job-folder.ts'

/** What a task's folder had when all of its work was sent. */
const Arrival = z.object({
  work: z.string(),
  /** False if files were too large to be sent, or some were refused. */
  is_whole: z.boolean(),
})

const arrivalFile = (folder: string): string => join(folder, 'arrived.json')

/** Sends all of a task's work and notes what that was, so that the folder may be removed as long as it has no more. */
export async function notingArrival<T extends { readonly isWhole: boolean }>(
  folder: string,
  send: () => Promise<T>,
  { signal }: Cancellable,
): Promise<T> {
  // What changes while it is sent is found to differ.
  const work = await describeWork(taskClone(folder), { signal })
  const sent = await send()
  const arrival: z.infer<typeof Arrival> = { work: work ?? '', is_whole: sent.isWhole }
  if (work !== null) await writeFile(arrivalFile(folder), JSON.stringify(arrival)).catch(() => undefined)
  return sent
}

export interface KeptTasksParts {
  /** The runner's folder. */
  readonly folder: string
  readonly locks: KeyedLock
  /** How long a folder stays in which nothing is done. */
  readonly idleMs: number
  /** Returns whether another program has a job of the task. */
  readonly isBusy?: (task_id: TaskId) => Promise<boolean>
  readonly log: Logger
}

/** The folders of tasks, each of which stays until its task has ended or was idle for long. */
export interface KeptTasks {
  list(): Promise<readonly TaskId[]>
  /** Removes those of ended tasks and idle ones, but none with work that the service doesn't have. */
  sweep(ended: readonly TaskId[], options: Cancellable): Promise<void>
}

const maxListed = 1_000

export function createKeptTasks({ folder, locks, idleMs, isBusy, log }: KeptTasksParts): KeptTasks {
  /** By the task, when it was used last, and since when it is idle or was looked at in vain. */
  const seen = new Map<TaskId, { readonly usedAt: number; readonly since: number }>()
  const [kept, waiting] = [new Set<TaskId>(), new Set<TaskId>()]
  const removed = join(folder, 'removed')
  const list = async (): Promise<readonly TaskId[]> => {
    const names = await readdir(tasksFolder(folder)).catch(() => [])
    return names.flatMap((name) => TaskId.safeParse(name).data ?? []).slice(0, maxListed)
  }
  /** Returns whether nothing was done there for long, by a clock that no one sets. */
  const isIdle = async (task_id: TaskId): Promise<boolean> => {
    const usedAt = (await stat(arrivalFile(taskFolder(folder, task_id))).catch(() => null))?.mtimeMs ?? 0
    const known = seen.get(task_id)
    if (known?.usedAt === usedAt) return performance.now() - known.since >= idleMs
    kept.delete(task_id)
    seen.set(task_id, { usedAt, since: performance.now() })
    return false
  }
  const isDue = async (task_id: TaskId, hasEnded: boolean): Promise<boolean> =>
    (await isIdle(task_id)) || (hasEnded && !kept.has(task_id))
  const removeIf = async (task_id: TaskId, hasEnded: boolean, { signal }: Cancellable): Promise<void> => {
    // A job may have ended there in between.
    if (!(await isDue(task_id, hasEnded)) || (await isBusy?.(task_id)) === true) return
    const own = taskFolder(folder, task_id)
    const text = await readFile(arrivalFile(own), 'utf8').catch(() => '')
    const arrival = Arrival.safeParse(parseJson(text)).data
    const mayGo = arrival !== undefined && (hasEnded || arrival.is_whole)
    if (!mayGo || (await describeWork(taskClone(own), { signal })) !== arrival.work) {
      // It is looked at again after as long, or once it was used.
      kept.add(task_id)
      seen.set(task_id, { usedAt: seen.get(task_id)?.usedAt ?? 0, since: performance.now() })
      return
    }
    await rm(removed, { recursive: true, force: true })
    await rename(own, removed)
    await rm(removed, { recursive: true, force: true })
    seen.delete(task_id)
  }
  return {
    list,
    sweep: async (ended, { signal }) => {
      const look = async (task_id: TaskId): Promise<void> => {
        const hasEnded = ended.includes(task_id)
        if (waiting.has(task_id) || !(await isDue(task_id, hasEnded))) return
        waiting.add(task_id)
        try {
          // A task that has a job is looked at once that is over.
          await locks.run(task_id, () => locks.run(removed, () => removeIf(task_id, hasEnded, { signal })))
        } catch (error) {
          if (!signal.aborted) log.warn({ err: error, task_id }, 'the folder of a task could not be removed')
        } finally {
          waiting.delete(task_id)
        }
      }
      await Promise.all((await list()).map(look))
    },
  }
}
