import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { createConnection, type Socket } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { jobProtocol } from '../../src-shared/contract/jobs.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import { createGitViews } from '../git/view/git-views.ts'
import { Carrier, readUntil } from '../platform/link/carrier.ts'
import { acceptLink, toService } from '../platform/link/link.ts'
import { joinStreams } from '../platform/link/link-port.ts'
import { linkAnswer } from '../platform/link/marked-start.ts'
import { DataDirLockedError, lockDataDir } from '../platform/locks/single-instance.ts'
import type { Logger } from '../platform/logging/log.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { hasJobs, readKeptJobs, readLeftJobs, type KeptJob, type LeftJob } from './job-folder.ts'
import { linkSocket, type Links } from './serve-links.ts'

/**
 * Programs of other versions in the folder of a runner. One that runs keeps its jobs to their end, and is reached by the
 * link of this one; it gets no new ones, since the service refuses its version.
 */
export interface OtherPrograms {
  /** Returns the jobs that running programs still have, and, each once, the jobs that killed programs left. */
  look(): Promise<{ readonly kept: readonly KeptJob[]; readonly left: readonly LeftJob[] }>
  /** Returns whether one that runs has a job of the task. */
  isBusy(task_id: TaskId): Promise<boolean>
  /** Resolves once none has, or when the signal aborts. */
  untilFree(task_id: TaskId, options: Cancellable): Promise<void>
}

/** The folder of a program of this version, within that of the runner. */
export const ownFolder = (folder: string): string => join(folder, `v${jobProtocol}`)

/** Returns the folders of all programs; the first versions had that of the runner itself. */
export async function programFolders(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^v\d+$/.test(name))
  return [folder, ...names.map((name) => join(folder, name))]
}

/** Connects to the program of a folder; null if none runs there. */
export async function connectTo(own: string): Promise<Socket | null> {
  const socket = createConnection(linkSocket(own))
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    return null
  }
}

const lookMs = 2_000

export function createOtherPrograms(
  { folder, links, log }: { readonly folder: string; readonly links: Links; readonly log: Logger },
  { signal }: Cancellable,
): OtherPrograms {
  /** The folders of killed programs, locked until what they left is done. */
  const dead = new Map<string, Disposable>()
  const reached = new Set<string>()
  const others = async (): Promise<readonly string[]> =>
    (await programFolders(folder)).filter(
      (one) => one !== ownFolder(folder) && (dead.has(one) || hasJobs(one) || existsSync(linkSocket(one))),
    )
  const keptJobs = async (): Promise<readonly KeptJob[]> =>
    (await Promise.all((await others()).filter((one) => !dead.has(one)).map(readKeptJobs))).flat()
  const isBusy = async (task_id: TaskId): Promise<boolean> => (await keptJobs()).some((one) => one.task_id === task_id)

  /** Leads the connections of a program to the service, as a service does by its link, until either has ended. */
  const reach = async (own: string): Promise<void> => {
    const socket = await connectTo(own)
    if (socket === null) return
    socket.on('error', () => undefined)
    socket.write(`${JSON.stringify({ token: links.token() })}\n`)
    const { heard } = await readUntil(socket, linkAnswer, linkAnswer.length)
    if (heard === null) return void socket.destroy()
    const link = acceptLink(new Carrier(socket, socket, heard.rest), (connection, to) => {
      const lead = async (): Promise<void> => {
        const on = to === toService ? await links.connect() : null
        if (on === null) connection.destroy()
        else joinStreams(connection, on)
      }
      void lead()
    })
    const end = (): void => link.close()
    signal.addEventListener('abort', end, { once: true })
    await link.closed
    signal.removeEventListener('abort', end)
  }
  const reachAll = async (): Promise<void> => {
    while (!signal.aborted) {
      for (const own of links.isLinked() ? await others() : []) {
        if (reached.has(own)) continue
        reached.add(own)
        void reach(own)
          .catch((error: unknown) => log.warn({ err: error, own }, 'a program of another version can’t be reached'))
          .finally(() => reached.delete(own))
      }
      await delay(lookMs, undefined, { signal }).catch(() => undefined)
    }
  }
  void reachAll()

  /** Returns what a program has left that was killed; none if it runs. */
  const leftBy = async (own: string): Promise<readonly LeftJob[]> => {
    const isKnown = dead.has(own)
    const lock = dead.get(own) ?? lockOrNull(own)
    if (lock === null) return []
    const left = isKnown ? [] : await readLeftJobs(own)
    if (hasJobs(own)) dead.set(own, lock)
    else {
      await rm(linkSocket(own), { force: true })
      dead.delete(own)
      lock[Symbol.dispose]()
    }
    // What its contained runs have committed is in views of its own.
    if (left.length > 0) await createGitViews({ dataDir: own, log }).takeOver()
    return left
  }
  return {
    look: async () => {
      const left: LeftJob[] = []
      for (const own of await others()) left.push(...(await leftBy(own)))
      return { kept: await keptJobs(), left }
    },
    isBusy,
    untilFree: async (task_id, cancellable) => {
      while (!cancellable.signal.aborted && (await isBusy(task_id)))
        await delay(lookMs, undefined, cancellable).catch(() => undefined)
    },
  }
}

function lockOrNull(own: string): Disposable | null {
  try {
    return lockDataDir(own)
  } catch (error) {
    if (!(error instanceof DataDirLockedError)) throw error
    return null
  }
}
