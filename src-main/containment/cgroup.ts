import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A control group of one run: the kernel counts its processes and kills them as one. */
export interface Cgroup {
  /** The file to which a process writes its pid to join the group, with all that it starts. */
  readonly procs: string
  /** Kills what is left and removes the group; resolves to its peak use, where the kernel counts that. */
  end(): Promise<CgroupPeak>
}

interface CgroupPeak {
  readonly memory_bytes: number | null
  readonly processes: number | null
}

const mounts = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified']
const prefix = 'copse-run-'
/** How often removal of a group that is not empty yet is tried, each time 10 ms later. */
const maxTries = 50

/**
 * Creates a group below that of this process; null where that is not possible, as for most programs that a desktop
 * starts. `name` holds this process's pid, so that the next service finds what a killed one left.
 */
export async function createCgroup(name: string): Promise<Cgroup | null> {
  const parent = await findParent()
  if (parent === null) return null
  const folder = join(parent, name)
  try {
    // Fails if the parent group has processes of its own; then only the counting is missing.
    await writeFile(join(parent, 'cgroup.subtree_control'), '+memory +pids').catch(() => undefined)
    await mkdir(folder)
    return { procs: join(folder, 'cgroup.procs'), end: () => endCgroup(folder) }
  } catch {
    return null
  }
}

/** Removes the groups that killed services left. */
export async function sweepCgroups(isLeft: (name: string) => boolean): Promise<void> {
  const parent = await findParent()
  const left = parent === null ? [] : (await readdir(parent)).filter((name) => name.startsWith(prefix) && isLeft(name))
  for (const name of left) await endCgroup(join(parent ?? '', name))
}

/** Returns the group of this process in cgroup v2. */
async function findParent(): Promise<string | null> {
  if (process.platform !== 'linux') return null
  const cgroupPath = /^0::(\/.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8').catch(() => ''))?.[1]
  if (cgroupPath === undefined) return null
  for (const mount of mounts) {
    const folder = join(mount, cgroupPath)
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
