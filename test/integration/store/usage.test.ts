import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import type { AgentId } from '../../../src-shared/contract/ids.ts'
import { executionRecord } from './execution-record.ts'
import { openStore } from './open-store.ts'

test('sums reported usage per task, and per project by agent and task', async () => {
  await using open = await openStore()
  const [cheap, dear] = [v7() as AgentId, v7() as AgentId]
  const [one, other] = [open.task({ title: 'One' }), open.task({ title: 'Other' })]
  const used = (task_id: typeof one.id, agent_id: AgentId, tokens: number, cost_usd: number | null) => {
    const usage = { input_tokens: tokens, output_tokens: 1, cost_usd }
    const record = { ...executionRecord(open, task_id, 'succeeded'), agent_id, executor: 'command', usage } as const
    open.store.write((q) => q.executions.put(record))
  }
  used(one.id, cheap, 10, null)
  used(one.id, dear, 100, 0.5)
  used(other.id, dear, 1000, 0.25)
  open.store.write((q) => q.executions.put(executionRecord(open, other.id, 'failed')))
  const { usage } = open.store.read
  expect(usage.ofTask(one.id)).toEqual({
    executions: 2,
    input_tokens: 110,
    output_tokens: 2,
    cost_usd: 0.5,
    incomplete: true,
  })
  expect(usage.ofProject(open.project_id)).toEqual({
    total: { executions: 3, input_tokens: 1110, output_tokens: 3, cost_usd: 0.75, incomplete: true },
    by_agent: [
      { agent_id: dear, executions: 2, input_tokens: 1100, output_tokens: 2, cost_usd: 0.75, incomplete: false },
      { agent_id: cheap, executions: 1, input_tokens: 10, output_tokens: 1, cost_usd: null, incomplete: true },
    ],
    by_task: [
      {
        task_id: other.id,
        title: 'Other',
        executions: 1,
        input_tokens: 1000,
        output_tokens: 1,
        cost_usd: 0.25,
        incomplete: false,
      },
      {
        task_id: one.id,
        title: 'One',
        executions: 2,
        input_tokens: 110,
        output_tokens: 2,
        cost_usd: 0.5,
        incomplete: true,
      },
    ],
  })
  expect(usage.ofTask(open.task().id)).toEqual({
    executions: 0,
    input_tokens: 0,
    output_tokens: 0,
    cost_usd: null,
    incomplete: false,
  })
})
