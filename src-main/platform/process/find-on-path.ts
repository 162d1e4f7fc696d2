import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'

/** Returns the absolute path of a program, as a shell would find it, or null. */
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
    // Any system error means that the file can't be run.
    if (typeof (error as NodeJS.ErrnoException).code === 'string') return false
    throw error
  }
}
