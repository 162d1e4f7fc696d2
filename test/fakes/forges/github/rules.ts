import type { CheckRun, FakePull, FakeRepository, MergeMethod, Protection } from './state.ts'
import { noProtection } from './world.ts'

export const protectionOf = ({ base, repository }: FakePull): Protection =>
  repository.protection.get(base) ?? noProtection()

interface RequiredCheck {
  readonly context: string
  readonly app: number | null
}

export function requiredChecks({ classic, rules }: Protection): readonly RequiredCheck[] {
  const fromRules = rules
    .filter(({ type }) => type === 'required_status_checks')
    .flatMap(({ parameters }) => (parameters?.['required_status_checks'] ?? []) as readonly RulesetCheck[])
  return [
    ...(classic ?? []).map(({ context, app_id }) => ({ context, app: app_id })),
    ...fromRules.map(({ context, integration_id }) => ({ context, app: integration_id ?? null })),
  ]
}

interface RulesetCheck {
  readonly context: string
  readonly integration_id?: number | null
}

/** Of one name and app, the newest counts. */
export function latestRuns({ checkRuns }: FakeRepository, commit: string): readonly CheckRun[] {
  const latest = new Map<string, CheckRun>()
  for (const run of checkRuns) {
    if (run.commit === commit) latest.set(`${run.app.id} ${run.name} ${run.run?.id ?? ''}`, run)
  }
  return [...latest.values()]
}

type Met = 'met' | 'expected' | 'failed'

function isMet(pull: FakePull, { context, app }: RequiredCheck): Met {
  const { repository, commit } = pull
  const runs = latestRuns(repository, commit).filter(
    ({ name, app: by }) => name === context && (app ?? by.id) === by.id,
  )
  const newest = runs.toSorted((a, b) => b.id - a.id)[0]
  const status = repository.statuses.findLast((one) => one.commit === commit && one.context === context)
  if (!newest && !status) return 'expected'
  if (newest && newest.status !== 'completed') return 'expected'
  if (newest && !['success', 'neutral', 'skipped'].includes(newest.conclusion ?? '')) return 'failed'
  if (status && status.state !== 'success') return status.state === 'pending' ? 'expected' : 'failed'
  return 'met'
}

const approvals = ({ reviews }: FakePull) => {
  const words = new Map<string, string>()
  for (const { user, state } of reviews) {
    if (['APPROVED', 'CHANGES_REQUESTED', 'DISMISSED'].includes(state)) words.set(user.login, state)
  }
  return [...words.values()]
}

/** Returns why the target's protection keeps a pull request from being merged, in GitHub's words; null if it doesn't. */
export function protectedBy(pull: FakePull): string | null {
  const protection = protectionOf(pull)
  for (const check of requiredChecks(protection)) {
    const met = isMet(pull, check)
    if (met === 'expected') return `Required status check "${check.context}" is expected.`
    if (met === 'failed') return `Required status check "${check.context}" is failing.`
  }
  const words = approvals(pull)
  const missing = protection.approvals - words.filter((word) => word === 'APPROVED').length
  if (missing > 0) return `At least ${missing} approving review is required by reviewers with write access.`
  return words.includes('CHANGES_REQUESTED') && protection.approvals > 0 ? 'Changes have been requested.' : null
}

export const isProtected = (protection: Protection) =>
  protection.classic !== null || protection.rules.length > 0 || protection.approvals > 0 || protection.queue

/** GitHub's `mergeable_state`. */
export function mergeState(pull: FakePull): 'unknown' | 'dirty' | 'draft' | 'blocked' | 'unstable' | 'clean' {
  if (pull.state !== 'open' || pull.computing > 0) return 'unknown'
  if (pull.conflict) return 'dirty'
  if (pull.draft) return 'draft'
  if (protectedBy(pull) !== null) return 'blocked'
  const isRed = latestRuns(pull.repository, pull.commit).some(
    ({ status, conclusion }) => status !== 'completed' || conclusion === 'failure',
  )
  return isRed ? 'unstable' : 'clean'
}

export function isAllowed(pull: FakePull, method: MergeMethod): boolean {
  const { allow_merge_commit, allow_squash_merge, allow_rebase_merge } = pull.repository
  const isOn = { merge: allow_merge_commit, squash: allow_squash_merge, rebase: allow_rebase_merge }[method]
  const limits = protectionOf(pull).rules.flatMap(({ type, parameters }) => {
    const named = type === 'pull_request' ? parameters?.['allowed_merge_methods'] : null
    return Array.isArray(named) ? [named as readonly string[]] : []
  })
  return isOn && limits.every((limit) => limit.includes(method))
}
