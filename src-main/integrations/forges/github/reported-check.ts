import { z } from 'zod'
import type { ForgeCheck } from '../../../ports/forges.ts'

/** A check as a kind of report tells it. */
export interface Reported {
  readonly name: string
  readonly state: ForgeCheck['state']
  readonly url: string | null
  readonly job: string | null
  /** The number of the app that reports it; null where that isn't told. */
  readonly app: number | null
  /** Newer ones are greater. */
  readonly order: number
}

export const toCheck = ({ name, state, url, job }: Reported, required: boolean | null): ForgeCheck => ({
  name,
  state,
  required,
  url,
  job,
})

/** Keeps the newest of each name and app: a check that was run again counts as it is now. */
export function newest(reported: readonly Reported[]): readonly Reported[] {
  const kept = new Map<string, Reported>()
  for (const check of reported) {
    const key = `${check.app ?? ''} ${check.name}`
    const former = kept.get(key)
    if (!former || former.order <= check.order) kept.set(key, check)
  }
  return [...kept.values()]
}

const conclusions: Readonly<Record<string, ForgeCheck['state']>> = {
  success: 'passed',
  neutral: 'passed',
  skipped: 'skipped',
  cancelled: 'cancelled',
  // Left to itself for two weeks.
  stale: 'cancelled',
}

/** The rest fails a merge: failure, timed_out, action_required, startup_failure. */
function stateOf(status: string, conclusion: string | null | undefined): ForgeCheck['state'] {
  if (status === 'completed') return conclusions[conclusion ?? ''] ?? 'failed'
  return status === 'in_progress' ? 'running' : 'queued'
}

const Url = z.string().nullish().catch(null)
const Time = z.string().nullish().catch(null)

/** https://docs.github.com/en/rest/checks/runs */
export const CheckRun = z
  .looseObject({
    id: z.number(),
    name: z.string(),
    status: z.string(),
    conclusion: z.string().nullish().catch(null),
    html_url: Url,
    details_url: Url,
    app: z
      .looseObject({ id: z.number(), slug: z.string().nullish().catch(null) })
      .nullish()
      .catch(null),
  })
  .transform(({ id, name, status, conclusion, html_url, details_url, app }): Reported => {
    const isActions = app?.slug === 'github-actions'
    return {
      name,
      state: stateOf(status, conclusion),
      url: (isActions ? html_url : (details_url ?? html_url)) ?? null,
      job: isActions ? (jobOf(details_url) ?? jobOf(html_url)) : null,
      app: app?.id ?? null,
      order: id,
    }
  })

/** Returns the number of a job from the address of its page; the second form is that of older servers. */
function jobOf(url: string | null | undefined): string | null {
  return (
    /\/actions\/runs\/\d+\/jobs?\/(\d+)/.exec(url ?? '')?.[1] ?? /\/runs\/(\d+)(?:[?#]|$)/.exec(url ?? '')?.[1] ?? null
  )
}

const statuses: Readonly<Record<string, ForgeCheck['state']>> = { success: 'passed', pending: 'running' }

/** https://docs.github.com/en/rest/commits/statuses */
export const CommitStatus = z
  .looseObject({ context: z.string(), state: z.string(), target_url: Url })
  .transform(({ context, state, target_url }): Reported => ({
    name: context,
    // Also `error`.
    state: statuses[state] ?? 'failed',
    url: target_url === '' ? null : (target_url ?? null),
    job: null,
    app: null,
    order: 0,
  }))

/** https://docs.github.com/en/rest/actions/workflow-runs */
export const WorkflowRun = z.looseObject({
  id: z.number(),
  name: z.string().nullish().catch(null),
  event: z.string().catch(''),
  status: z.string().nullish().catch(null),
  conclusion: z.string().nullish().catch(null),
  run_attempt: z.number().nullish().catch(null),
  html_url: Url,
  updated_at: Time,
})
export type WorkflowRun = z.infer<typeof WorkflowRun>

/** A run that failed before it had a job: its file can't be read. */
export function withoutJobs({ id, name, status, conclusion, html_url }: WorkflowRun): readonly Reported[] {
  const state = stateOf(status ?? '', conclusion)
  const isTold = state === 'failed' && conclusion !== 'action_required'
  return isTold ? [{ name: name ?? 'Actions', state, url: html_url ?? null, job: null, app: null, order: id }] : []
}

/** https://docs.github.com/en/rest/actions/workflow-jobs */
export const Job = z
  .looseObject({
    id: z.number(),
    name: z.string(),
    status: z.string(),
    conclusion: z.string().nullish().catch(null),
    html_url: Url,
  })
  .transform(({ id, name, status, conclusion, html_url }): Reported => ({
    name,
    state: stateOf(status, conclusion),
    url: html_url ?? null,
    job: String(id),
    app: null,
    order: id,
  }))
