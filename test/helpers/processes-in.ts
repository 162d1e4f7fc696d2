import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface FoundProcess {
  readonly pid: number
  /** Its start in the system's units, which distinguishes processes with the same pid. */
  readonly started: string
  readonly command: string
}

/** The processes that work below these folders, even removed ones; none where the system can't list them. */
export function processesIn(folders: readonly string[]): readonly FoundProcess[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const cwd = readlinkSync(`/proc/${pid}/cwd`)
        if (!folders.some((folder) => cwd === folder || cwd.startsWith(`${folder}/`))) return []
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const [state, , , , , , , , , , , , , , , , , , , started = ''] = stat
          .slice(stat.lastIndexOf(')') + 2)
          .split(' ')
        if (state === 'Z') return []
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
        return [{ pid: Number(pid), started, command }]
      } catch (error) {
        // It ended, or belongs to another user.
        if (error instanceof Error && 'code' in error) return []
        throw error
      }
    })
}

/** The process that works there for longest. */
export const oldestIn = (folder: string): FoundProcess | undefined =>
  processesIn([folder]).toSorted((a, b) => Number(a.started) - Number(b.started))[0]

/** Kills all processes that work below a folder; one that ends before that is no error. */
export function killIn(folder: string): void {
  for (const { pid } of processesIn([folder])) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}
