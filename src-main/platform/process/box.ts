import { afterwards } from '../../../src-shared/lang/afterwards.ts'

/** A program with its arguments and complete environment. */
export interface BoxedCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Whether it is started in a terminal. */
  readonly terminal?: boolean
}

/** A sandbox that a process and all its descendants can't leave. */
export interface Box {
  /**
   * Returns the command that runs this one inside the box. Call `release` once no process of it is left. Throws if
   * the system can't.
   */
  contain(command: BoxedCommand): Promise<InBox>
}

/** What runs a command inside a box. */
export interface InBox extends BoxedCommand {
  readonly release: () => Promise<void>
  /**
   * Returns the exit code of the program itself, which its process here may not know; `told` is what that ended with.
   * Called before `release`.
   */
  readonly exitCode?: (told: number) => Promise<number>
}

/** Resolves with how a program in a box has ended, once the box is released. */
export async function endedInBox<T extends { readonly exit_code: number }>(
  ended: Promise<T>,
  { exitCode, release }: Pick<InBox, 'exitCode' | 'release'>,
): Promise<T> {
  return await afterwards(
    ended.then(async (end) => (exitCode ? { ...end, exit_code: await exitCode(end.exit_code) } : end)),
    release,
  )
}
