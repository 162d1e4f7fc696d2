import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { builtFile } from '../../helpers/built.ts'

const cli = await builtFile('cli.js')

// The demo’s agent is contained.
test('walks the demo’s task from claim to merge, and leaves nothing behind', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [cli, 'demo', '--json'])
  const told = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly step: string; readonly text: string })
  const steps = told.map(({ step }) => step)
  const order = ['started', 'created', 'agent_started', 'agent_finished', 'review', 'ci', 'merging', 'done', 'merged']
  expect(steps.filter((step, index) => order.includes(step) && steps.indexOf(step) === index)).toEqual(order)
  expect(told.at(-1)?.text).toContain('Greet by the time of day')
})
