import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { LandingLane, LandingSettings } from '../../../src-shared/contract/landing.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { eventually } from '../../helpers/eventually.ts'
import { budget, startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

const move = (job: Job, task: Task, more: { respond_async?: boolean; on_red?: boolean } = {}) =>
  job.running.client.call('tasks.transition', { task_id: task.id, status: 'merging', version: task.version, ...more })

/** A script that fails when it calls a missing name, so that two changes which pass alone break it together. */
const files = {
  'lib.sh': 'greet() { echo hello; }\n',
  'main.sh': '. ./lib.sh\ngreet\n',
}
const check = 'for f in main*.sh; do sh -e $f >/dev/null || { echo "$f is broken"; exit 3; }; done'
const rename = 'sed -i s/greet/welcome/ lib.sh main.sh'
const addCaller = 'printf ". ./lib.sh\\ngreet\\n" > main2.sh'
const addCallerOrMend = `if [ -e main2.sh ]; then git merge -q --no-edit main && sed -i s/greet/welcome/ main2.sh; else ${addCaller}; fi`

async function startLanding(landing: Partial<LandingSettings> = {}, more: { files?: Record<string, string> } = {}) {
  const job = await startJob({ files: more.files ?? files })
  const settings = { mode: 'serial', steps: null, max_parallel: 2, retry_failed: false, ...landing } as const
  await job.settings({ default_review_config: { ci_steps: [check], review_prompt: null }, landing: settings })
  return job
}

/** A task whose work has passed review. */
async function reviewed(job: Job, command: string, title = 'Work'): Promise<Task> {
  const task = await job.task({ title })
  await job.claim(task, await job.agent(`${command}; echo done`))
  return job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
}

/** The first lane with a task that an event reports. */
async function firstLane(job: Job): Promise<LandingLane> {
  for await (const item of job.running.client.events({}, 0, AbortSignal.timeout(30_000))) {
    if (item.kind !== 'event' || item.event.type !== 'landing.updated') continue
    if (item.event.data.lane.tasks.length > 0) return item.event.data.lane
  }
  throw new Error('The events ended.')
}

const scratchOf = async (job: Job) =>
  (await readdir(join(job.running.dataDir, 'workspaces', '.scratch')).catch(() => [])).filter(
    (name) => !name.endsWith('.json'),
  )

test('returns the second of two tasks that break the base together, lands it mended, and keeps the base green', async () => {
  await using job = await startLanding()
  const { client } = job.running
  const [first, second] = await Promise.all([
    reviewed(job, rename, 'Rename greet'),
    reviewed(job, addCallerOrMend, 'Add a caller'),
  ])
  const landed = await move(job, first)
  expect(landed.task.status).toBe('done')
  expect(landed.landing).toEqual({ result: 'landed', step: null, exit_code: null, output_tail: '', with: [] })
  const main = await job.repository.git(['rev-parse', 'main'])

  const red = await move(job, second)

  expect(red.landing).toMatchObject({ result: 'red', step: check, exit_code: 3, with: [first.id] })
  expect(red.landing?.output_tail).toContain('main2.sh is broken')
  expect(red.task).toMatchObject({ status: 'in_progress', review_passed_at: null })
  expect(await job.repository.git(['rev-parse', 'main'])).toBe(main)
  const back = (await job.transitions(second.id)).find(({ from_state }) => from_state === 'merging')
  expect(back).toMatchObject({ to_state: 'in_progress', triggered_by: 'system', rejection: true })
  expect(back?.trigger_reason).toContain('It passes alone. It fails together with')
  expect(back?.trigger_reason).toContain('“Rename greet”')
  expect(back?.trigger_reason).toContain('+welcome')
  const { items } = await client.call('landing.list', { project_id: job.project.id })
  expect(items).toEqual([
    expect.objectContaining({ branch: 'main', commit: main, health: 'green', failure: null, tasks: [] }),
  ])
  expect(await scratchOf(job)).toEqual([])
  expect(await job.repository.git(['worktree', 'list', '--porcelain'])).not.toContain('.scratch')

  const mended = await job.running.taskWhere(second.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect((await move(job, mended)).task.status).toBe('done')
  expect(await job.repository.git(['show', 'main:main2.sh'])).toContain('welcome')
})

test('lands the tree that the review judged without running its checks', async () => {
  await using job = await startLanding()
  const log = join(job.repository.beside, 'runs')
  await job.settings({ default_review_config: { ci_steps: [`echo $SVC_EVENT >> ${log}`], review_prompt: null } })
  const task = await reviewed(job, 'echo 1 > one.txt')
  expect((await move(job, task)).task.status).toBe('done')
  const other = await reviewed(job, 'echo 2 > two.txt')
  await job.repository.commit('theirs', { 'theirs.txt': 'x\n' })
  expect((await move(job, other)).task.status).toBe('done')

  expect((await readFile(log, 'utf8')).trim().split('\n')).toEqual(['ci', 'ci', 'landing'])
})

test('blocks landing on a base that a person broke, until it is mended', async () => {
  await using job = await startLanding()
  const { client } = job.running
  const project_id = job.project.id
  const [task, other] = await Promise.all([reviewed(job, 'echo 1 > one.txt'), reviewed(job, 'echo 2 > two.txt')])
  const green = await job.repository.git(['rev-parse', 'main'])
  await job.settings({ landing: { mode: 'serial', steps: [], max_parallel: 2, retry_failed: false } })
  expect(await refused(client.call('landing.check', { project_id }))).toMatchObject({ code: 'no_steps' })
  await job.settings({ landing: { mode: 'serial', steps: null, max_parallel: 2, retry_failed: false } })
  await client.call('landing.check', { project_id })
  const laneWhere = (health: string) =>
    eventually(
      client,
      async () => (await client.call('landing.list', { project_id })).items[0],
      (lane) => lane?.health === health && !lane.checking,
    )
  await laneWhere('green')
  await job.repository.commit('break it', { 'main9.sh': 'nothing_like_that\n' })
  const broken = await job.repository.git(['rev-parse', 'main'])

  // The base's health is unknown: the first failure makes it suspect, so it is tested too.
  const refusal = await refused(move(job, task))
  expect(refusal).toMatchObject({ code: 'base_red', details: { step: check } })
  const returned = await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect(returned.review_passed_at).not.toBeNull()
  expect((await job.transitions(task.id)).at(-1)).toMatchObject({ from_state: 'merging', rejection: false })
  expect(await laneWhere('red')).toMatchObject({
    commit: broken,
    failure: { step: check, exit_code: 3, last_green: green },
  })

  // The health is known now, so a merge is refused at once.
  expect(await refused(move(job, other))).toMatchObject({ code: 'base_red' })
  expect((await job.running.taskWhere(other.id, () => true)).status).toBe('review')
  // A person may still land, which does not make the base green.
  expect((await move(job, other, { on_red: true })).landing?.result).toBe('landed')
  expect(await laneWhere('red')).toMatchObject({ failure: { step: check, last_green: green } })

  await job.repository.commit('mend it', { 'main9.sh': 'true\n' })
  expect((await move(job, returned)).landing?.result).toBe('landed')
  await laneWhere('green')
})

test('lets a caller not wait, see the task in its lane, and take it out', async () => {
  await using job = await startLanding()
  const { client } = job.running
  const gate = join(job.repository.beside, 'go')
  const task = await reviewed(job, 'echo 1 > one.txt')
  const waits = `if [ "$SVC_EVENT" = landing ]; then until [ -e ${gate} ]; do sleep 0.02; done; fi`
  await job.settings({ landing: { mode: 'serial', steps: [waits], max_parallel: 2, retry_failed: false } })
  await job.repository.commit('theirs', { 'theirs.txt': 'x\n' })
  const heard = firstLane(job)
  const started = await move(job, task, { respond_async: true })
  expect(started).toMatchObject({ landing_deferred: true, task: { status: 'merging' } })
  const [lane] = (await client.call('landing.list', { project_id: job.project.id })).items
  expect(lane?.tasks).toEqual([
    expect.objectContaining({ task_id: task.id, position: 1, state: 'testing', with: [], steps: [waits] }),
  ])
  expect((await heard).tasks.map(({ task_id }) => task_id)).toEqual([task.id])
  await client.call('landing.remove', { project_id: job.project.id, task_id: task.id })
  const back = await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect(back.review_passed_at).not.toBeNull()
  expect(await scratchOf(job)).toEqual([])
  expect(await refused(client.call('landing.remove', { project_id: job.project.id, task_id: task.id }))).toMatchObject({
    code: 'not_landing',
  })
  // Over HTTP the header requests the same, and the answer says so.
  const address = `${job.running.url}/api/v1/tasks/${task.id}/transition`
  const headers = { authorization: `Bearer ${job.running.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ status: 'merging', version: back.version })
  const answer = await fetch(address, { method: 'POST', headers: { ...headers, prefer: 'respond-async' }, body })
  expect([answer.status, answer.headers.get('preference-applied')]).toEqual([202, 'respond-async'])
  await writeFile(gate, '')
  await job.running.taskWhere(task.id, (one) => one.status === 'done')
})

test('takes a cancelled task out of the lane and moves nothing of it', async () => {
  await using job = await startLanding()
  const { client } = job.running
  const task = await reviewed(job, 'echo 1 > one.txt')
  await job.settings({ landing: { mode: 'serial', steps: ['sleep 600'], max_parallel: 2, retry_failed: false } })
  const main = await job.repository.commit('theirs', { 'theirs.txt': 'x\n' })
  await move(job, task, { respond_async: true })
  await client.call('tasks.cancel', { task_id: task.id })
  expect(await scratchOf(job)).toEqual([])
  expect(await job.repository.git(['rev-parse', 'main'])).toBe(main)
  const { items } = await client.call('landing.list', { project_id: job.project.id })
  expect(items[0]?.tasks).toEqual([])
})

test('tests waiting tasks together, and finds a culprit by halves', async () => {
  await using job = await startLanding({ mode: 'speculative', max_parallel: 1 })
  const { client } = job.running
  const log = join(job.repository.beside, 'runs')
  const steps = [`echo run >> ${log}`, check]
  const tasks = await Promise.all([
    ...[1, 2, 3, 4, 5].map((index) => reviewed(job, `echo ${index} > ${index}.txt`, `T${index}`)),
    reviewed(job, rename, 'Rename greet'),
    reviewed(job, addCaller, 'Add a caller'),
  ])
  await job.settings({ landing: { mode: 'speculative', steps, max_parallel: 1, retry_failed: false } })
  // The lane waits until all are in it.
  await job.repository.commit('theirs', { 'theirs.txt': 'x\n' })
  const answers = await Promise.all(tasks.map((task) => move(job, task)))
  const results = answers.map(({ landing }) => landing?.result)
  expect(results.slice(0, 5)).toEqual(['landed', 'landed', 'landed', 'landed', 'landed'])
  expect(results.slice(5).toSorted()).toEqual(['landed', 'red'])
  const red = answers.find(({ landing }) => landing?.result === 'red')
  expect(red?.landing?.with).toContain(tasks[results[5] === 'red' ? 6 : 5]?.id)
  // The first alone, the six others together, and the halving; one by one it would be seven and more.
  expect((await readFile(log, 'utf8')).trim().split('\n').length).toBeLessThanOrEqual(6)
  expect(await job.repository.git(['status', '--porcelain'])).toBe('')
  const [lane] = (await client.call('landing.list', { project_id: job.project.id })).items
  expect(lane).toMatchObject({ health: 'green', tasks: [] })
})

test('uses the gate’s budget for repeated failures, whoever asks for the merge', async () => {
  await using job = await startJob({ files, workflow: budget(1) })
  await job.settings({ default_review_config: { ci_steps: ['true'], review_prompt: null } })
  await job.settings({ landing: { mode: 'serial', steps: ['false'], max_parallel: 2, retry_failed: false } })
  const { client } = job.running
  const task = await reviewed(job, 'date +%N >> one.txt')
  await job.repository.commit('theirs', { 'theirs.txt': 'x\n' })
  // Its base passes what the task fails.
  await job.settings({
    landing: { mode: 'serial', steps: ['! test -e one.txt'], max_parallel: 2, retry_failed: false },
  })
  expect((await move(job, task)).landing?.result).toBe('red')
  await client.call('tasks.claim', { task_id: task.id }).catch(() => undefined)
  const again = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const blocked = await move(job, again)
  expect(blocked.task).toMatchObject({ status: 'blocked', error_annotation: { type: 'retry_budget_exhausted' } })
})

test('reports a step that fails once as flaky if set so, and blames no task for a failed set-up', async () => {
  await using job = await startLanding()
  const { client } = job.running
  const mark = join(job.repository.beside, 'mark')
  const flaky = `[ -e ${mark} ] || { touch ${mark}; exit 1; }`
  const task = await reviewed(job, 'echo 1 > one.txt')
  await job.repository.commit('theirs', { 'theirs.txt': 'x\n' })
  await job.settings({ landing: { mode: 'serial', steps: [flaky], max_parallel: 2, retry_failed: true } })
  expect((await move(job, task)).landing?.result).toBe('landed')
  const outcomes = (await job.transitions(task.id)).flatMap(({ hooks }) => hooks)
  expect(outcomes.find(({ action }) => action === 'run_merge')?.reason).toContain('flaky, passed on the second try')

  const other = await reviewed(job, 'echo 2 > two.txt')
  await job.repository.commit('theirs', { 'theirs2.txt': 'x\n' })
  await job.settings({ setup_commands: ['[ "$SVC_EVENT" != landing ]'] })
  const failed = await move(job, other)
  expect(failed.task).toMatchObject({ status: 'merge_failed', error_annotation: { type: 'workspace_error' } })
  expect((await job.transitions(other.id)).some(({ rejection }) => rejection)).toBe(false)
  expect(await refused(client.call('landing.check', { project_id: job.project.id, branch: 'nope' }))).toMatchObject({
    code: 'branch_missing',
  })
})
