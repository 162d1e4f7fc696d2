import { expect, test } from 'vitest'
import { stateTraits } from '../../../src-shared/contract/workflow-definition.ts'
import { createPlugins, pluginRules, pluginTraits } from '../../../src-main/plugins/create-plugins.ts'
import type { PluginServices } from '../../../src-main/hooks/plugin.ts'
import { standardDefinition } from '../domain/workflows.ts'

/** Plugins use the services only when they run. */
const plugins = createPlugins({} as PluginServices)
const rules = pluginRules(plugins)
const problem = (name: string, config: unknown) => rules.get(name)?.(config)

test('contains exactly the specified plugins', () => {
  expect([...plugins.keys()]).toEqual(
    expect.arrayContaining([
      'auto_cascade_on_review_pass',
      'await_pull_request',
      'cancel_pending_subtasks',
      'check_retry_budget',
      'cleanup_workspace_now',
      'dispatch_role_agent',
      'knowledge-capture',
      'knowledge-inject',
      'open_pull_request',
      'propagate_done_to_subtasks',
      'publish_task_blocked',
      'run_ci_steps',
      'run_merge',
      'satisfy_dependents',
      'schedule_workspace_cleanup',
    ]),
  )
  for (const [name, plugin] of plugins) expect(plugin.name).toBe(name)
})

test('lets every plugin run in some phase after the commit, and refuse none before it', () => {
  for (const plugin of plugins.values()) {
    expect(plugin.phases.length).toBeGreaterThan(0)
    expect(plugin.phases).not.toContain('before_exit')
  }
})

test('refuses an unknown option of every plugin, and accepts an empty config', () => {
  for (const [name, { options }] of plugins) {
    expect(problem(name, undefined)).toBe(problem(name, {}))
    // Beside a required option.
    const issues = options.safeParse({ no_such_option: 1 }).error?.issues.map(({ message }) => message)
    expect(issues?.join()).toContain('no_such_option')
    expect(problem(name, 'text')).not.toBeNull()
  }
})

test('runs the plugins of the shipped workflow without a config', () => {
  const hooks = standardDefinition.states.flatMap((state) => Object.values(state.hooks ?? {}).flat())
  const bare = hooks.flatMap(({ plugin, config }) => (plugin !== undefined && config === undefined ? [plugin] : []))
  expect(bare.length).toBeGreaterThan(0)
  for (const name of bare) expect([name, problem(name, undefined)]).toEqual([name, null])
})

test('knows a plugin’s traits before its services exist', () => {
  expect(new Set([...pluginTraits.values()].flatMap(({ traits }) => traits))).toEqual(new Set(stateTraits))
  for (const [name, { traits }] of pluginTraits) expect(plugins.get(name)?.traits).toBe(traits)
})

test.each([
  ['check_retry_budget', { gate: 'review', max_rejections: 0 }, null],
  ['check_retry_budget', { max_rejections: 1.5 }, 'max_rejections'],
  ['check_retry_budget', { gate: '' }, 'gate'],
  ['knowledge-inject', { max_tokens: 500, limit: 3 }, null],
  ['knowledge-inject', { max_tokens: 0 }, 'max_tokens'],
  ['knowledge-inject', { limit: 'many' }, 'limit'],
  ['knowledge-capture', { max_chars: 1_000 }, null],
  ['knowledge-capture', { max_chars: 50_001 }, 'max_chars'],
  ['schedule_workspace_cleanup', { seconds: 0 }, null],
  ['schedule_workspace_cleanup', { seconds: -1 }, 'seconds'],
])('%s %j: %s', (name, config, where) => {
  const said = problem(name, config)
  if (where === null) expect(said).toBeNull()
  else expect(said).toMatch(new RegExp(`^${where}: `))
})

test('describes a plugin whose options are left out', () => {
  const parsed = (name: string) => plugins.get(name)?.options.parse({})
  expect(parsed('knowledge-inject')).toEqual({ max_tokens: 2_000, limit: 10 })
  expect(parsed('knowledge-capture')).toEqual({ max_chars: 4_000 })
  expect(parsed('schedule_workspace_cleanup')).toEqual({})
  expect(parsed('check_retry_budget')).toEqual({})
})

test('gives the plugins of the default workflow only options that they accept', () => {
  for (const state of standardDefinition.states) {
    for (const hook of Object.values(state.hooks ?? {}).flat()) {
      if (hook.plugin !== undefined)
        expect([hook.plugin, problem(hook.plugin, hook.config)]).toEqual([hook.plugin, null])
    }
  }
})
