const reasons: Readonly<Record<string, string>> = {
  no_agent: 'Nobody has the role.',
  person: 'A person has the role: no agent is started.',
  no_role: 'The state has no role.',
  no_agent_run: 'No agent runs.',
  no_execution: 'No agent has run.',
  no_workspace: 'There is no worktree yet.',
  no_repository: 'There is no repository to run it in.',
  audience: 'It is not for moves by this kind of actor.',
  unsupported_event: 'The plugin does nothing at this point.',
  review_not_passed: 'The review has not passed.',
  superseded: 'The task had moved on.',
  not_needed: 'There was nothing to do.',
  disabled: 'It is turned off.',
}

/** Why a hook did what it did, as a sentence; what is one already stays. */
export function hookReason(reason: string): string {
  return reasons[reason] ?? reason
}

/** Who passed a hook over, when and why. */
export interface SkippedOnce {
  readonly by: string
  readonly at: string
  readonly why: string
}

/** Reads the reason that the history keeps of a hook that was passed over once; null for any other reason. */
export function skippedOnce(reason: string): SkippedOnce | null {
  const { by, at, why } = /^skipped once by (?<by>\S+) at (?<at>\S+): (?<why>.*)$/s.exec(reason)?.groups ?? {}
  return by === undefined || at === undefined || Number.isNaN(Date.parse(at)) ? null : { by, at, why: why ?? '' }
}
