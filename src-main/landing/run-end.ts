/** How the checks of a merge ended. */
export type RunEnd =
  | { readonly kind: 'passed'; readonly flaky: readonly string[] }
  | {
      readonly kind: 'failed'
      readonly step: string
      readonly exit_code: number
      readonly output_tail: string
      readonly log_name: string | null
    }
  /** They could not be run, for example because a set-up command failed. */
  | { readonly kind: 'broken'; readonly message: string }

/** Calls `onEnd` once a run has ended; never without one. */
export async function watch(end: Promise<RunEnd> | null, onEnd: (end: RunEnd) => void): Promise<void> {
  if (end !== null) onEnd(await endOf(end))
}

/** Returns how a run ended; one that threw is broken. */
export async function endOf(run: Promise<RunEnd>): Promise<RunEnd> {
  try {
    return await run
  } catch (error) {
    return { kind: 'broken', message: error instanceof Error ? error.message : String(error) }
  }
}
