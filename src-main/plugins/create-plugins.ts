import type { PluginTraits } from '../domain/workflow/graph.ts'
import type { PluginCheck, PluginChecks } from '../domain/workflow/validate.ts'
import { autoCascadeOnReviewPass } from './auto-cascade-on-review-pass.ts'
import { cancelPendingSubtasks } from './cancel-pending-subtasks.ts'
import { checkRetryBudget } from './check-retry-budget.ts'
import { cleanupWorkspaceNow } from './cleanup-workspace-now.ts'
import { dispatchRoleAgent } from './dispatch-role-agent.ts'
import { knowledgeCapture } from './knowledge-capture.ts'
import { knowledgeInject } from './knowledge-inject.ts'
import type { Plugin, PluginDefinition, PluginServices } from '../hooks/plugin.ts'
import { awaitPullRequest, openPullRequest } from './open-pull-request.ts'
import { propagateDoneToSubtasks } from './propagate-done-to-subtasks.ts'
import { publishTaskBlocked } from './publish-task-blocked.ts'
import { runCiSteps } from './run-ci-steps.ts'
import { runMerge } from './run-merge.ts'
import { satisfyDependents } from './satisfy-dependents.ts'
import { scheduleWorkspaceCleanup } from './schedule-workspace-cleanup.ts'

const definitions: readonly PluginDefinition[] = [
  checkRetryBudget,
  knowledgeInject,
  knowledgeCapture,
  dispatchRoleAgent,
  runCiSteps,
  runMerge,
  openPullRequest,
  awaitPullRequest,
  autoCascadeOnReviewPass,
  cancelPendingSubtasks,
  propagateDoneToSubtasks,
  satisfyDependents,
  cleanupWorkspaceNow,
  scheduleWorkspaceCleanup,
  publishTaskBlocked,
]

/** Traits of the states whose hooks name a built-in plugin. */
export const pluginTraits: PluginTraits = new Map(definitions.map((one) => [one.name, one]))

/** Creates the built-in plugins by name, the only ones a workflow may name. */
export function createPlugins(services: PluginServices): ReadonlyMap<string, Plugin> {
  return new Map(definitions.map(({ create, ...plugin }) => [plugin.name, { ...plugin, ...create(services) }]))
}

/** By plugin: returns the problem of a `config` as a sentence, or null. */
export function pluginRules(plugins: ReadonlyMap<string, Plugin>): PluginChecks {
  const checkOf = (plugin: Plugin): PluginCheck =>
    Object.assign((config: unknown) => problemOf(plugin, config), { traits: plugin.traits })
  return new Map([...plugins].map(([name, plugin]) => [name, checkOf(plugin)]))
}

function problemOf(plugin: Plugin, config: unknown): string | null {
  const parsed = plugin.options.safeParse(config ?? {})
  const issue = parsed.error?.issues[0]
  if (!issue) return null
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`
}
