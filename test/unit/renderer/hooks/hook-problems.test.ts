import { describe, expect, test } from 'vitest'
import { hookProblems, pluginWarning, refusedHooks } from '../../../../src-renderer/features/hooks/hook-problems.ts'
import { draftOf, newPlugin, newScript, withList } from '../../../../src-renderer/model/hook-draft.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import type { PluginInfo } from '../../../../src-shared/contract/lifecycle-hooks.ts'

const inject: PluginInfo = {
  name: 'knowledge-inject',
  purpose: 'Tells the agent what the project knows.',
  phases: ['before_enter'],
  events: ['before_work'],
  options: { type: 'object', properties: { limit: { type: 'integer', minimum: 1 } } },
}
const gate: PluginInfo = { ...inject, name: 'check_retry_budget', events: [] }

const script = { ...newScript('before_work'), command: 'npm ci' }
const told = (patch: Partial<typeof script>) =>
  hookProblems({ ...script, ...patch }, []).map(({ field, message }) => `${field}: ${message}`)

test('names the field of a script’s problem', () => {
  expect(told({})).toEqual([])
  expect(told({ command: ' \n' })).toEqual(['command: Enter a script or a program path.'])
  expect(told({ timeout: '0' })).toEqual(['timeout_seconds: Whole seconds, from 1 to 86,400 (a day).'])
  expect(told({ timeout: '1.5', codes: '' })).toEqual([
    'timeout_seconds: Whole seconds, from 1 to 86,400 (a day).',
    'success_exit_codes: At least one exit code, usually 0.',
  ])
  expect(told({ codes: '0, 256' })).toEqual(['success_exit_codes: Whole numbers from 0 to 255, with commas between.'])
})

describe('a plugin', () => {
  const plugin = newPlugin('knowledge-inject')
  test('must exist, once the list is known', () => {
    const gone = newPlugin('gone')
    expect(hookProblems(gone, null)).toEqual([])
    expect(hookProblems(gone, [inject]).map(({ field }) => field)).toEqual(['name'])
  })
  test('reports problems with its options and with the JSON of the others', () => {
    const fields = (patch: Partial<typeof plugin>) =>
      hookProblems({ ...plugin, ...patch }, [inject]).map(({ field }) => field)
    expect(fields({ config: { limit: 3 } })).toEqual([])
    expect(fields({ config: { limit: 0 } })).toEqual(['config.limit'])
    expect(fields({ config: { limit: 'x' }, json: '{' })).toEqual(['config', 'config.limit'])
  })
  test('is marked, without a problem, where it does nothing', () => {
    expect(pluginWarning(plugin, 'before_work', [inject])).toBeNull()
    expect(pluginWarning(plugin, 'on_task_done', [inject])).toContain('It works at before_work.')
    expect(pluginWarning(newPlugin('check_retry_budget'), 'before_work', [gate])).toContain('workflow states only')
    expect(hookProblems(newPlugin('check_retry_budget'), [gate])).toEqual([])
    expect(pluginWarning(plugin, 'on_task_done', null)).toBeNull()
  })
})

describe('what the service refused', () => {
  const [first, second] = [{ ...script }, newPlugin('knowledge-inject')]
  const draft = withList(draftOf({}), 'before_work', [first, second])
  const refused = (...issues: unknown[]) =>
    refusedHooks(new ApiError({ code: 'validation_failed', message: 'No.', details: { issues } }), draft)

  test('appears at the field of the hook that its path names', () => {
    const told = refused(
      { path: 'lifecycle_hooks.before_work.0.timeout_seconds', message: 'Too long.' },
      { path: 'lifecycle_hooks.before_work.0.success_exit_codes.1', message: 'Too large.' },
      { path: 'lifecycle_hooks.before_work.1.config.limit.deep', message: 'Too many.' },
      { path: 'lifecycle_hooks.before_work.1.config', message: 'The options do not fit.' },
    )
    expect(told).toEqual({
      problems: [
        { key: first.key, field: 'timeout_seconds', message: 'Too long.' },
        { key: first.key, field: 'success_exit_codes', message: 'Too large.' },
        { key: second.key, field: 'config.limit', message: 'Too many.' },
        { key: second.key, field: 'config', message: 'The options do not fit.' },
      ],
      rest: [],
    })
  })
  test('appears for the whole if its path names no hook of the draft', () => {
    const told = refused(
      { path: 'lifecycle_hooks.before_work.7.command', message: 'Gone.' },
      { path: 'lifecycle_hooks.at_noon', message: "This event doesn't exist." },
    )
    expect(told).toEqual({ problems: [], rest: ['Gone.', "This event doesn't exist."] })
  })
  test('is left to others if it concerns something else', () => {
    expect(refusedHooks(new ApiError({ code: 'owner_required', message: 'No.' }), draft)).toBeNull()
    expect(refusedHooks(new Error('away'), draft)).toBeNull()
  })
})
