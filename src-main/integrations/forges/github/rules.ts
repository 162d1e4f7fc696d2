import { z } from 'zod'
import type { MergeMethod } from '../../../ports/forges.ts'
import { unlessRefused } from '../unless-refused.ts'
import { part, type Github } from './github.ts'

/** A check that the target requires; `app` is null where any may report it. */
export interface RequiredCheck {
  readonly name: string
  readonly app: number | null
}

/** What the rulesets for a branch say. */
export interface BranchRules {
  readonly checks: readonly RequiredCheck[]
  /** A workflow is required; nothing tells the names of its jobs. */
  readonly requiresWorkflow: boolean
  /** null: all that the repository allows. */
  readonly methods: readonly MergeMethod[] | null
  readonly queue: boolean
}

const methods = ['merge', 'squash', 'rebase'] as const satisfies readonly MergeMethod[]

const App = z.number().nullish().catch(null)

const Rule = z.looseObject({
  type: z.string(),
  parameters: z
    .looseObject({
      required_status_checks: z
        .array(z.looseObject({ context: z.string(), integration_id: App }))
        .nullish()
        .catch(null),
      allowed_merge_methods: z.array(z.string()).nullish().catch(null),
    })
    .nullish()
    .catch(null),
})
type Rule = z.infer<typeof Rule>

/** What seldom changes must not cost a good part of the requests of a pull request that waits. */
export const keptMs = (): number => 1_200_000

const refusals = ['forbidden', 'not_found', 'refused'] as const

/** Reads the rules of a branch; null where the token may not, or the server has none yet. */
export async function readRules(github: Github, branch: string): Promise<BranchRules | null> {
  return github.recall(`rules ${branch}`, keptMs, () =>
    unlessRefused(refusals, async () => toRules(await github.list(`/rules/branches/${part(branch)}`, Rule))),
  )
}

/** A rule that refuses merge commits is one about history. */
function toRules(rules: readonly Rule[]): BranchRules {
  const limits = rules.flatMap(({ type, parameters }) => {
    if (type === 'required_linear_history') return [['squash', 'rebase']]
    const named = type === 'pull_request' ? parameters?.allowed_merge_methods : null
    return named ? [named] : []
  })
  return {
    checks: rules
      .filter(({ type }) => type === 'required_status_checks')
      .flatMap(({ parameters }) => parameters?.required_status_checks ?? [])
      .map(({ context, integration_id }) => ({ name: context, app: appOf(integration_id) })),
    requiresWorkflow: rules.some(({ type }) => type === 'workflows'),
    queue: rules.some(({ type }) => type === 'merge_queue'),
    methods: limits.length === 0 ? null : methods.filter((method) => limits.every((limit) => limit.includes(method))),
  }
}

const Branch = z.looseObject({
  protection: z
    .looseObject({
      required_status_checks: z
        .looseObject({
          contexts: z.array(z.string()).catch([]),
          checks: z
            .array(z.looseObject({ context: z.string(), app_id: App }))
            .nullish()
            .catch(null),
        })
        .nullish()
        .catch(null),
    })
    .nullish()
    .catch(null),
})

/** Reads which checks the older kind of protection requires; null where the token may not. */
export async function readProtection(github: Github, branch: string): Promise<readonly RequiredCheck[] | null> {
  return github.recall(`protection ${branch}`, keptMs, () =>
    unlessRefused(refusals, async () => {
      // The address for protection itself is for those who administer the repository.
      const { protection } = await github.get(`/branches/${part(branch)}`, Branch)
      const required = protection?.required_status_checks
      const apps = new Map((required?.checks ?? []).map(({ context, app_id }) => [context, appOf(app_id)]))
      const names = new Set([...(required?.contexts ?? []), ...apps.keys()])
      return [...names].map((name) => ({ name, app: apps.get(name) ?? null }))
    }),
  )
}

/** GitHub also writes -1 for any app. */
const appOf = (id: number | null | undefined) => (id == null || id < 0 ? null : id)
