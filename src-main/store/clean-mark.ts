import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

/**
 * The mark of a clean end, `<file>.clean`: what the file was like when it was closed. Taken away at the start, so that it
 * is there only after a clean end; a file that was changed since by anything else does not fit it either.
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

/** Leaves the mark, after the database was closed. Without room for it the next start checks the file. */
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
