import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** What a process has used and holds. */
export interface Usage {
  /** Of the process and of those that it started and that have ended. */
  readonly cpu_ms: number
  /** In bytes. */
  readonly memory: number
}

/** By `/proc`, or by `ps` where there is none. */
export async function usageOf(pid: number): Promise<Usage> {
  if (process.platform !== 'linux') return await usageByPs(pid)
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  // Ticks of a hundredth of a second, in user and system, of itself and its children.
  const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0)
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return { cpu_ms: ticks * 10, memory: Number(resident) * 1024 }
}

/**
 * The most that this process has held, in bytes, as the system counts it: no moment between two looks is missed. On
 * Linux the usual count begins with what the parent held when it forked.
 */
export function peakMemory(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
}

/** Without what it started. */
async function usageByPs(pid: number): Promise<Usage> {
  const { stdout } = await execute('ps', ['-o', 'time=,rss=', '-p', String(pid)])
  const [time = '', resident = ''] = stdout.trim().split(/\s+/)
  const seconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  return { cpu_ms: seconds * 1_000, memory: Number(resident) * 1024 }
}
