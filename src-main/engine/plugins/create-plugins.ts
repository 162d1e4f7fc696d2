import type { Scheduler } from '../scheduler.ts'
import type { Plugin } from './plugin.ts'
import { runCiSteps, type CiServices } from './run-ci-steps.ts'
import { runMerge } from './run-merge.ts'

/** The built-in plugins by name. A workflow may name these and no others. */
export function createPlugins(
  services: CiServices & { readonly dispatch: Scheduler['dispatch'] },
): ReadonlyMap<string, Plugin> {
  const plugins: Plugin[] = [
    runCiSteps(services),
    runMerge(services),
    { name: 'dispatch_role_agent', phases: ['on_enter'], run: ({ task }) => services.dispatch(task) },
    // The transition itself announces the blocked task; the plugin marks the state that takes such tasks.
    { name: 'publish_task_blocked', phases: ['on_enter'], run: () => Promise.resolve({ kind: 'ok' }) },
    autoCascade(services),
  ]
  return new Map(plugins.map((plugin) => [plugin.name, plugin]))
}

/** Goes on to the merge at once when the review has passed; its `on_success` names the state. */
function autoCascade({ context }: CiServices): Plugin {
  return {
    name: 'auto_cascade_on_review_pass',
    phases: ['after_enter'],
    run: ({ task }) => {
      const passed = context.store.read.reviews.latest(task.id)?.status === 'passed'
      return Promise.resolve(passed ? { kind: 'ok' } : { kind: 'skipped', reason: 'review_not_passed' })
    },
  }
}
