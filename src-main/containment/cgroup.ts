import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A control group of one run: the kernel counts what is in it, and ends it as one. */
export interface Cgroup {
  /** Who writes their number there is in it, with all that they start. */
  readonly procs: string
  /** Ends what is left and removes it; answers what it used at most, where the kernel counts that. */
  end(): Promise<CgroupPeak>
}

export interface CgroupPeak {
  readonly memory_bytes: number | null
  readonly processes: number | null
}

const mounts = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified']
const prefix = 'copse-run-'
/** How often a group that is not empty yet is tried to be removed, each time 10 ms later. */
const maxTries = 50

/**
 * Makes a group below that of this process; null where that is not possible, as for most programs that a desktop starts.
 * `name`: with the number of this process, so that the next service finds what a killed one left.
 */
export async function createCgroup(name: string): Promise<Cgroup | null> {
  const parent = await findParent()
  if (parent === null) return null
  const folder = join(parent, name)
  try {
    // Fails where the parent has programs of its own, which is as good but for the counting.
    await writeFile(join(parent, 'cgroup.subtree_control'), '+memory +pids').catch(() => undefined)
    await mkdir(folder)
    return { procs: join(folder, 'cgroup.procs'), end: () => endCgroup(folder) }
  } catch {
    return null
  }
}

/** Removes what services left that were killed. */
export async function sweepCgroups(isLeft: (name: string) => boolean): Promise<void> {
  const parent = await findParent()
  const left = parent === null ? [] : (await readdir(parent)).filter((name) => name.startsWith(prefix) && isLeft(name))
  for (const name of left) await endCgroup(join(parent ?? '', name))
}

/** The group of this process, in the hierarchy of the second version. */
async function findParent(): Promise<string | null> {
  if (process.platform !== 'linux') return null
  const own = /^0::(\/.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8').catch(() => ''))?.[1]
  if (own === undefined) return null
  for (const mount of mounts) {
    const folder = join(mount, own)
    if ((await read(join(folder, 'cgroup.procs'))) !== null) return folder
  }
  return null
}

async function endCgroup(folder: string): Promise<CgroupPeak> {
  const peak = { memory_bytes: await count(folder, 'memory.peak'), processes: await count(folder, 'pids.peak') }
  await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => undefined)
  for (let tries = 0; tries < maxTries; tries++) {
    const isGone = await rmdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    )
    if (isGone) break
    await delay(10)
  }
  return peak
}

async function count(folder: string, file: string): Promise<number | null> {
  const number = Number((await read(join(folder, file)))?.trim() ?? Number.NaN)
  return Number.isSafeInteger(number) ? number : null
}

const read = async (file: string): Promise<string | null> => await readFile(file, 'utf8').catch(() => null)
