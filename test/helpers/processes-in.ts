import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface FoundProcess {
  readonly pid: number
  /** When it started, as the system counts it: another process with the same pid has another. */
  readonly started: string
  readonly command: string
}

/** The processes that work below these folders, also where those are gone; where the system does not tell, none. */
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
        // It ended meanwhile, or is somebody else's.
        if (error instanceof Error && 'code' in error) return []
        throw error
      }
    })
}
