import { readdirSync, readFileSync } from 'node:fs'

export interface Program {
  readonly pid: number
  /** Its command line. */
  readonly words: readonly string[]
}

/** All programs of this machine; none where the system can't list them. */
export function allPrograms(): readonly Program[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        return [{ pid: Number(pid), words: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') }]
      } catch {
        // It has ended.
        return []
      }
    })
}

/** The programs with this text in their command line. */
export const programsWith = (text: string): readonly Program[] =>
  allPrograms().filter(({ words }) => words.join(' ').includes(text))

/** Kills a program; returns whether it was there. */
export function kill(pid: number): boolean {
  if (!(pid > 1)) return false
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already, and the next one has not begun.
    return false
  }
}
