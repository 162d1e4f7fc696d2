import type { Cancellable } from '../../ports/cancellable.ts'
import type { AgentPrograms } from '../../ports/agent-programs.ts'
import { askProgram } from './ask-program.ts'

/** Returns the version that `program --version` prints, or null if it prints none within some seconds. */
export async function readVersion(
  path: string,
  { signal, programs }: Cancellable & { readonly programs?: AgentPrograms | undefined },
): Promise<string | null> {
  const answer = await (programs ?? { ask: askProgram }).ask(path, ['--version'], { signal })
  return answer?.exit_code === 0 ? (/\d+\.\d+(?:\.\d+)?[\w.+-]*/.exec(answer.stdout)?.[0] ?? null) : null
}
