import { afterEach, expect, test, vi } from 'vitest'
import { nextTick } from 'vue'
import { useNewTask } from '../../../../src-renderer/features/new-task/use-new-task.ts'
import { useAgents } from '../../../../src-renderer/stores/agents/agents.ts'
import { withService } from '../renderer-app.ts'

afterEach(() => void vi.unstubAllGlobals())

const coder = { id: '01990005-0000-7000-8000-000000000001', name: 'Coder' }
const judge = { id: '01990005-0000-7000-8000-000000000002', name: 'Judge' }
const byJudge = { reviewer: { type: 'agent', id: judge.id } }

/** A new task’s dialog before the agents are loaded, with a stored draft: a coder and a reviewer. */
async function begin() {
  const answers = { 'agents.list': () => ({ items: [judge] }) }
  const { used, end } = withService(answers, () => ({ dialog: useNewTask(() => 'p1'), agents: useAgents() }))
  const { dialog, agents } = used
  for (const agent of [coder, judge]) agents.put(agent as never)
  dialog.reset(null)
  Object.assign(dialog.draft, { title: 'Paint the hull', agentId: coder.id, roles: byJudge })
  await nextTick()
  for (const { id } of [coder, judge]) agents.remove(id)
  return { dialog, agents, end }
}

test('keeps a chosen agent although the agents are not loaded yet', async () => {
  const { dialog, end } = await begin()
  dialog.reset(null)
  await nextTick()
  dialog.reset(null)
  expect(dialog.draft).toMatchObject({ title: 'Paint the hull', agentId: coder.id, roles: byJudge })
  end()
})

test('drops an agent that is gone, and no one else', async () => {
  const { dialog, agents, end } = await begin()
  dialog.reset(null)
  await agents.load()
  await nextTick()
  expect(dialog.draft).toMatchObject({ agentId: null, roles: byJudge })
  agents.remove(judge.id)
  await nextTick()
  expect(dialog.draft).toMatchObject({ agentId: null, roles: {} })
  dialog.reset(null)
  expect(dialog.draft).toMatchObject({ title: 'Paint the hull', agentId: null, roles: {} })
  end()
})
