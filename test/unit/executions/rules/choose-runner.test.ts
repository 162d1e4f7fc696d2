import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseRunner, planStarts, type RunnerLoad } from '../../../../src-main/executions/rules/choose-runner.ts'
import type { ProjectId, RunnerId } from '../../../../src-shared/contract/ids.ts'
import type { WaitReason } from '../../../../src-shared/contract/queue.ts'
import { hereRunner, runnerStates } from '../../../../src-shared/contract/runners.ts'

const project = (name: string) => name as ProjectId
const runner = (name: string) => name as RunnerId
const load = (more: Partial<RunnerLoad> = {}): RunnerLoad => ({
  state: 'ready',
  capacity: 1,
  projects: null,
  running: new Map(),
  served: new Map(),
  ...more,
})
const freely = { waits: () => null, take: () => undefined }
const full = { running: new Map([[project('a'), 1]]) }

test.each([
  ['the first that is ready with room', ['down', 'full', 'free', 'here'], { runner_id: 'free', reason: null }],
  ['none when all that are ready are full', ['down', 'full'], { runner_id: null, reason: 'runner_full' }],
  ['none when none is ready', ['down', 'new', 'old', 'gone'], { runner_id: null, reason: 'runner_unreachable' }],
  ['none of other projects', ['theirs'], { runner_id: null, reason: 'runner_unreachable' }],
  ['one without a limit', ['here'], { runner_id: 'here', reason: null }],
  ['no runner for an agent elsewhere', null, { runner_id: null, reason: null }],
])('chooses %s', (_, names, expected) => {
  const runners = new Map([
    [hereRunner, load({ capacity: null, running: new Map([[project('a'), 50]]) })],
    [runner('down'), load({ state: 'unreachable' })],
    [runner('new'), load({ state: 'unchecked' })],
    [runner('old'), load({ state: 'outdated' })],
    [runner('full'), load(full)],
    [runner('theirs'), load({ projects: [project('b')] })],
    [runner('free'), load({ projects: [project('a')] })],
  ])
  const candidates = names?.map(runner) ?? null
  expect(chooseRunner({ project_id: project('a'), candidates }, runners)).toEqual(expected)
})

test('holds up no run of a project behind one whose runner is full', () => {
  const queued = ['full', 'here', 'full'].map((name) => ({ project_id: project('a'), candidates: [runner(name)] }))
  const runners = new Map([
    [hereRunner, load({ capacity: null })],
    [runner('full'), load(full)],
  ])
  const starts = planStarts(queued, runners, freely)
  expect(queued.map((run) => starts.get(run)?.reason)).toEqual(['runner_full', null, 'runner_full'])
})

test('takes projects in turn where a runner has one place, also with a first project that never ends its queue', () => {
  const names = ['a', 'b', 'c']
  const served = new Map<ProjectId, number>()
  const turns = Array.from({ length: 9 }, (_, at) => {
    const queued = names.flatMap((name) =>
      Array.from({ length: 4 }, () => ({ project_id: project(name), candidates: [runner('box')] })),
    )
    const starts = planStarts(queued, new Map([[runner('box'), load({ served })]]), freely)
    const started = queued.filter((run) => starts.get(run)?.reason === null).map(({ project_id }) => project_id)
    for (const id of started) served.set(id, at + 1)
    return started.join()
  })
  expect(turns).toEqual([...names, ...names, ...names])
})

const projects = ['a', 'b', 'c', 'd'].map(project)
const boxes = ['here', 'x', 'y', 'z'].map(runner)
const counts = fc.dictionary(fc.constantFrom(...projects), fc.integer({ min: 0, max: 3 }))
const toMap = (given: Record<string, number>) => new Map(Object.entries(given) as [ProjectId, number][])
const loads = fc.record({
  state: fc.constantFrom(...runnerStates),
  capacity: fc.option(fc.integer({ min: 1, max: 6 }), { nil: null }),
  projects: fc.option(fc.subarray(projects), { nil: null }),
  running: counts.map(toMap),
  served: counts.map(toMap),
})
const runs = fc.array(
  fc.record({
    project_id: fc.constantFrom(...projects),
    candidates: fc.option(fc.oneof(fc.subarray(boxes, { minLength: 1 }), fc.constant([runner('x')])), {
      nil: null,
      freq: 8,
    }),
    held: fc.boolean(),
  }),
  { maxLength: 40 },
)

test('starts all that fits, in the order of each project, and shares what is short', () => {
  fc.assert(
    fc.property(runs, fc.tuple(loads, loads, loads, loads), fc.integer({ min: 1, max: 5 }), (queued, given, slots) => {
      const runners = new Map(boxes.map((id, index) => [id, given[index] ?? load()]))
      const taken = new Map<ProjectId, number>()
      const waits = ({ held, project_id }: (typeof queued)[number]): WaitReason | null => {
        if (held) return 'agent_paused'
        return (taken.get(project_id) ?? 0) < slots ? null : 'slots_full'
      }
      const take = ({ project_id }: (typeof queued)[number]) => {
        taken.set(project_id, (taken.get(project_id) ?? 0) + 1)
      }
      const starts = planStarts(queued, runners, { waits, take })
      expect(starts.size).toBe(queued.length)
      const startsAt = (id: RunnerId) => queued.filter((run) => starts.get(run)?.runner_id === id)
      for (const [id, { capacity, state, running, projects: own }] of runners) {
        const started = startsAt(id)
        const before = [...running.values()].reduce((sum, n) => sum + n, 0)
        if (started.length > 0) expect(state).toBe('ready')
        if (capacity !== null && started.length > 0) expect(before + started.length).toBeLessThanOrEqual(capacity)
        for (const run of started) expect(own === null || own.includes(run.project_id)).toBe(true)
        // No project whose runs all wait for a place there has two fewer than one that was just given one.
        const share = (of: ProjectId) => (running.get(of) ?? 0) + started.filter((run) => run.project_id === of).length
        for (const [waiting, line] of Map.groupBy(queued, (run) => run.project_id)) {
          const wantsOnlyThis = line.every((run) => run.candidates?.join() === id)
          if (!wantsOnlyThis || !line.some((run) => starts.get(run)?.reason === 'runner_full')) continue
          for (const { project_id } of started) expect(share(project_id) - share(waiting)).toBeLessThanOrEqual(1)
        }
      }
      for (const run of queued) {
        const { reason, runner_id } = starts.get(run) ?? { reason: null, runner_id: null }
        if (run.held) expect(reason).toBe('agent_paused')
        if (reason === 'slots_full') expect(taken.get(run.project_id)).toBe(slots)
        if (reason === null && run.candidates === null) expect(runner_id).toBeNull()
        if (reason === null && run.candidates !== null) expect(run.candidates).toContain(runner_id)
      }
    }),
    { numRuns: 500 },
  )
})
