import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

/**
 * Removes the marker of a clean end, `<file>.clean`, and returns whether it was there and fits the file. It stores
 * the file's state at the close, so a file that was changed since does not fit.
 */
export function takeCleanMark(file: string): boolean {
  const mark = `${file}.clean`
  try {
    const known = readFileSync(mark, 'utf8')
    rmSync(mark)
    return known === markOf(file)
  } catch {
    return false
  }
}

/** Writes the marker after the database was closed. Without it the next start checks the file. */
export function leaveCleanMark(file: string): void {
  try {
    writeFileSync(`${file}.clean`, markOf(file), { mode: 0o600 })
  } catch {
    rmSync(`${file}.clean`, { force: true })
  }
}

function markOf(file: string): string {
  const { size, mtimeMs, ino } = statSync(file)
  return JSON.stringify({ size, mtimeMs, ino })
}
