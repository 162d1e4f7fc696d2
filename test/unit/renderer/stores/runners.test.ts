import { afterEach, expect, test, vi } from 'vitest'
import { useRunners } from '../../../../src-renderer/stores/agents/runners.ts'
import { ProjectId, RunnerId } from '../../../../src-shared/contract/ids.ts'
import type { Runner } from '../../../../src-shared/contract/runners.ts'
import { withService } from '../renderer-app.ts'

afterEach(() => vi.unstubAllGlobals())

const [one, other] = ['1', '2'].map((end) => ProjectId.parse(`01990001-0000-7000-8000-00000000000${end}`))
if (!one || !other) throw new Error('Two projects are needed.')
const here: Runner = {
  id: 'here' as RunnerId,
  name: 'This machine',
  kind: 'here',
  projects: null,
  capacity: null,
  running: 0,
  grace_seconds: 600,
  state: 'ready',
  last_error: null,
  created_at: '2026-11-28T09:00:00.000Z',
}
const runner = (end: string, name: string, more: Partial<Runner> = {}): Runner => ({
  ...here,
  id: RunnerId.parse(`01990031-0000-7000-8000-00000000000${end}`),
  name,
  kind: 'container',
  capacity: 1,
  ...more,
})
const [attic, den] = [runner('1', 'Attic', { projects: [other] }), runner('2', 'Den')]

function start(answers: Parameters<typeof withService>[0] = {}) {
  const { used } = withService({ 'runners.list': () => ({ items: [den, here, attic] }), ...answers }, useRunners)
  return used
}

test('lists this machine first, and for a project only the runners that take its runs', async () => {
  const runners = start()
  await runners.load()
  expect(runners.items.map(({ name }) => name)).toEqual(['This machine', 'Attic', 'Den'])
  expect(runners.ofProject(one).map(({ name }) => name)).toEqual(['This machine', 'Den'])
  expect(runners.ofProject(other)).toHaveLength(3)
  expect(runners.namesOf([den.id, 'gone', attic.id])).toEqual(['Den', 'Attic'])
})

test('names a runner of a run only where it is not this machine', async () => {
  const runners = start()
  expect(runners.elsewhere(den.id)).toBeNull()
  await runners.load()
  expect([here.id, null, undefined, 'gone'].map((id) => runners.elsewhere(id))).toEqual([null, null, null, null])
  expect(runners.elsewhere(den.id)?.name).toBe('Den')
  runners.put(den.id, null)
  expect(runners.elsewhere(den.id)).toBeNull()
})

test('keeps what an event says of a runner during its check', async () => {
  const checked = Promise.withResolvers<unknown>()
  const runners = start({ 'runners.check': () => checked.promise })
  await runners.load()
  const steps = [{ name: 'reach', ok: true, message: 'Den answers.', fix: null }]
  const checking = runners.check(den.id)
  runners.put(den.id, { ...den, name: 'Shed', running: 1 })
  checked.resolve({ runner: den, steps })
  expect(await checking).toEqual(steps)
  expect(runners.byId.get(den.id)).toMatchObject({ name: 'Shed', running: 1 })
})
