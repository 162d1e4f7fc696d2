import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'

/** The absolute path of a program, as a shell would find it; null when there is none. */
export function findOnPath(
  program: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string | null {
  const windows = process.platform === 'win32'
  const endings = windows ? ['', ...(environment['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : ['']
  const named = isAbsolute(program) || program.includes('/') || (windows && program.includes('\\'))
  const folders = named ? [''] : (environment['PATH'] ?? environment['Path'] ?? '').split(delimiter).filter(Boolean)
  for (const folder of folders) {
    for (const ending of endings) {
      const path = resolve(join(folder, program) + ending)
      if (isExecutable(path)) return path
    }
  }
  return null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch (error) {
    // Every refusal of the system means the same: it can't be run from here.
    if (typeof (error as NodeJS.ErrnoException).code === 'string') return false
    throw error
  }
}
