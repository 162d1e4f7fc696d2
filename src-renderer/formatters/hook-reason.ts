const reasons: Readonly<Record<string, string>> = {
  no_agent: 'No one is assigned to this role.',
  person: 'Assigned to a person, so no agent starts.',
  no_role: 'The state has no role.',
  no_agent_run: 'No agent is running.',
  no_execution: 'No agent has run.',
  no_workspace: 'There is no worktree yet.',
  no_repository: 'There is no repository to run it in.',
  audience: 'Doesn’t apply to this kind of move.',
  unsupported_event: 'The plugin doesn’t run at this point.',
  review_not_passed: 'The review has not passed.',
  empty_work: 'Nothing changed. A person decides whether that is right.',
  superseded: 'The task had moved on.',
  not_needed: 'Nothing to do.',
  disabled: 'Turned off.',
}

/** Returns the sentence for a hook's reason code; other texts are returned unchanged. */
export function hookReason(reason: string): string {
  return reasons[reason] ?? reason
}

/** A recorded skip of a hook. */
export interface SkippedOnce {
  readonly by: string
  readonly at: string
  readonly why: string
}

/** Parses the history's reason of a hook that was skipped once; null for any other reason. */
export function skippedOnce(reason: string): SkippedOnce | null {
  const { by, at, why } = /^skipped once by (?<by>\S+) at (?<at>\S+): (?<why>.*)$/s.exec(reason)?.groups ?? {}
  return by === undefined || at === undefined || Number.isNaN(Date.parse(at)) ? null : { by, at, why: why ?? '' }
}
