import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dryRun, dryRunBudgets } from '../../../../src-main/domain/workflow/dry-run.ts'
import { indexWorkflow } from '../../../../src-main/domain/workflow/graph.ts'
import { DryRun } from '../../../../src-shared/contract/workflow-templates.ts'
import { anyValidDefinition } from '../workflows.ts'
import { roughWorkflow as workflow } from './rough-workflow.ts'

test('walks every path and loop along existing transitions', () => {
  fc.assert(
    fc.property(anyValidDefinition, (definition) => {
      const run = dryRun(indexWorkflow(definition, pluginTraits))
      expect(DryRun.parse(run)).toEqual(run)
      const leads = (from: string, to: string) => {
        const state = definition.states.find((one) => one.name === from)
        const cascades = Object.values(state?.hooks ?? {}).flatMap((hooks) =>
          hooks.flatMap((hook) => hook.on_success?.cascade ?? []),
        )
        return [...(state?.transitions.map((one) => one.to) ?? []), ...cascades].includes(to)
      }
      for (const { states, ends_in } of run.paths) {
        expect(new Set(states).size).toBe(states.length)
        expect([states[0], states.at(-1)]).toEqual(['two', ends_in])
        for (const [index, state] of states.slice(1).entries()) expect(leads(states[index] ?? '', state)).toBe(true)
      }
      for (const { states } of run.loops) {
        for (const [index, state] of states.entries()) {
          expect(leads(state, states[(index + 1) % states.length] ?? '')).toBe(true)
        }
      }
      expect(new Set(run.paths.map(({ states }) => states.join(' '))).size).toBe(run.paths.length)
    }),
  )
})

const numbered = Array.from({ length: 1_000 }, (_, index) => `s${index}`)
const big = (targets: (index: number) => readonly number[], hooks = {}) =>
  workflow(
    ...numbered.map((name, index) => ({
      name,
      kind: index === 0 ? 'initial' : index === 999 ? 'terminal' : 'custom',
      to: targets(index).map((to) => `s${to}`),
      hooks,
    })),
  )
const next = (index: number) => Math.min(index + 1, 999)

test.each<[string, (index: number) => readonly number[]]>([
  ['each of which leads to 40 others', (index) => [next(index), ...numbered.keys()].slice(0, 40)],
  ['some of which lead to all others', (index) => (index % 30 === 0 ? [...numbered.keys()] : [next(index)])],
  ['in a row of diamonds', (index) => (index % 3 === 0 ? [index + 1, index + 2] : [index + (3 - (index % 3))])],
  ['in a ring with short cuts', (index) => [next(index), (index * 7) % 999, 0]],
  ['back and forth', (index) => [next(index), Math.max(0, index - 1)]],
])('walks 1,000 states %s within the budget', (_what, targets) => {
  const flow = big((index) => (index === 999 ? [] : targets(index).map((to) => Math.min(to, 999))))
  const budgets = dryRunBudgets()
  const whole = dryRunBudgets().paths.left
  const run = dryRun(flow, budgets)
  expect(run.paths.length).toBeGreaterThan(0)
  expect(run.paths.length).toBeLessThanOrEqual(200)
  expect(run.loops.length).toBeLessThanOrEqual(200)
  // One more step may run when the budget ends; it looks at each edge at most once.
  const step = 2 * flow.definition.states.reduce((sum, state) => sum + 1 + state.transitions.length, 0)
  expect(budgets.paths.left).toBeGreaterThan(-step)
  expect(budgets.loops.left).toBeGreaterThan(-step)
  // A busy machine spends the budget in less than a second.
  expect(whole).toBeLessThanOrEqual(10_000_000)
})

test('keeps the answer small with many hooks', () => {
  const hooks = { on_enter: Array.from({ length: 30 }, () => ({ script: 'true' })) }
  const run = dryRun(big((index) => (index === 999 ? [] : [next(index), Math.min(index + 2, 999)]), hooks))
  const told = run.paths.reduce((sum, path) => sum + path.hooks.length + path.states.length, 0)
  expect(run.paths.length).toBeGreaterThan(1)
  expect(told).toBeLessThanOrEqual(50_000)
})
