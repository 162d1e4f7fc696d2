import type { Cancellable } from '../../ports/cancellable.ts'
import { askProgram } from './ask-program.ts'

/** Returns the version that `program --version` prints, or null if it prints none within 5 s. */
export async function readVersion(path: string, options: Cancellable): Promise<string | null> {
  const answer = await askProgram(path, ['--version'], options)
  return answer?.exit_code === 0 ? (/\d+\.\d+(?:\.\d+)?[\w.+-]*/.exec(answer.stdout)?.[0] ?? null) : null
}
