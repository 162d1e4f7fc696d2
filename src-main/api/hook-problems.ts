import type { LifecycleHook, LifecycleHooks } from '../../src-shared/contract/lifecycle-hooks.ts'
import type { Engine } from '../engine/create-engine.ts'

export interface HookProblem {
  readonly path: string
  readonly message: string
}

/** Returns problems that the schema can't find: an unknown plugin, or options that don't fit it. */
export function hookProblems(plugins: Engine['plugins'], hook: LifecycleHook, path: string): HookProblem[] {
  if (hook.type !== 'plugin') return []
  const check = plugins.get(hook.name)
  if (!check) {
    const known = [...plugins.keys()].join(', ')
    return [{ path: `${path}.name`, message: `No plugin ${hook.name}. Available: ${known}.` }]
  }
  const problem = check(hook.config)
  return problem === null ? [] : [{ path: `${path}.config`, message: `The options of ${hook.name}: ${problem}` }]
}

/** Returns the problems of all hooks in a project's settings. */
export function lifecycleProblems(plugins: Engine['plugins'], hooks: LifecycleHooks): HookProblem[] {
  return Object.entries(hooks).flatMap(([event, list]) =>
    list.flatMap((hook, index) => hookProblems(plugins, hook, `lifecycle_hooks.${event}.${index}`)),
  )
}
