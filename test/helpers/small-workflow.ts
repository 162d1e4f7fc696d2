import type { HookPhase, StateHook } from '../../src-shared/contract/workflow-definition.ts'

export type Hooks = Readonly<Record<string, Partial<Record<HookPhase, readonly StateHook[]>>>>

/**
 * A minimal workflow: `todo` → `working` → `done`, with `blocked` and `cancelled`, and the given hooks at its states.
 * People may move a task from `todo` to `done` by hand.
 */
export const smallWorkflow = (hooks: Hooks) => () => ({
  roles: [{ name: 'coder', label: 'Coder' }],
  states: [
    state('todo', 'initial', ['working', 'done', 'blocked']),
    { ...state('working', 'active', ['done', 'blocked']), role: 'coder' },
    state('blocked', 'custom', ['working', 'todo']),
    state('done', 'terminal', []),
    state('cancelled', 'terminal', []),
  ].map((one) => ({ ...one, ...(hooks[one.name] && { hooks: hooks[one.name] }) })),
})

/** Adds hooks to those of a workflow's states. */
export const withHooks =
  (hooks: Hooks) =>
  <S extends { name: string; hooks?: Partial<Record<HookPhase, readonly StateHook[]>> | undefined }>(standard: {
    states: readonly S[]
  }) => ({
    ...standard,
    states: standard.states.map((one) => {
      const added = Object.entries(hooks[one.name] ?? {}) as [HookPhase, readonly StateHook[]][]
      return {
        ...one,
        hooks: {
          ...one.hooks,
          ...Object.fromEntries(added.map(([at, list]) => [at, [...(one.hooks?.[at] ?? []), ...list]])),
        },
      }
    }),
  })

function state(name: string, kind: string, targets: readonly string[]) {
  const label = name[0]?.toUpperCase() + name.slice(1)
  return { name, kind, column: label, label, transitions: targets.map((to) => ({ to, label: to })) }
}
