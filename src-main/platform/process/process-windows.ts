import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** This process's clock noted the start and the system's is compared with it, so they may differ a little. */
const toleranceMs = 2_000

/** Kills a process and its descendants; does nothing if they are gone. */
export async function killTreeOnWindows(pid: number): Promise<void> {
  await answer('taskkill', ['/PID', String(pid), '/T', '/F'])
}

/** Returns when a process started, as an ISO time; null if there is none. */
export async function identifyOnWindows(pid: number): Promise<{ pid: number; started: string } | null> {
  const script = `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().ToString('o')`
  const started = (await answer('powershell', ['-NoProfile', '-NonInteractive', '-Command', script])).trim()
  return started === '' ? null : { pid, started }
}

/** Returns whether the process with this pid has the same start time. */
export async function isAliveOnWindows(identity: { pid: number; started: string }): Promise<boolean> {
  const now = await identifyOnWindows(identity.pid)
  return now !== null && Math.abs(Date.parse(now.started) - Date.parse(identity.started)) <= toleranceMs
}

/** Returns a program's output; '' if it failed, which here means "no such process". */
async function answer(program: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(program, [...args], { windowsHide: true })).stdout
  } catch (error) {
    if (typeof (error as { code?: unknown }).code === 'number') return ''
    throw error
  }
}
