import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { lockDataDir } from '../../../src-main/platform/locks/single-instance.ts'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { createOtherPrograms } from '../../../src-main/runner/other-programs.ts'
import type { RunnerId, TaskId } from '../../../src-shared/contract/ids.ts'
import { sshd } from '../../fakes/git-ssh-server.ts'
import * as jobs from '../../../src-shared/contract/jobs.ts'
import { ensureBuilt } from '../../helpers/built.ts'
import { buildOtherRunner } from '../../helpers/other-runner.ts'
import { oldestIn, processesIn } from '../../helpers/processes-in.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { startSshJob } from '../../helpers/ssh-job.ts'

/** The version of the service, which has modules in common with the tests before this one. */
const version = vi.spyOn<{ jobProtocol: number }, 'jobProtocol'>(jobs, 'jobProtocol', 'get')
const now: number = jobs.jobProtocol

const patient = { timeout: 60_000 }
/** Commits, waits for a word with uncommitted work, and commits again. */
const inTwoSteps =
  'echo one > one.txt; git add -A; git commit -qm One; echo half > half.txt; until [ -e go.txt ]; do sleep 0.1; done; rm go.txt; echo two > two.txt; git add -A; git commit -qm Two; until curl -s -o /dev/null "$SVC_API_URL/api/v1/system"; do sleep 0.2; done; curl -s -o /dev/null -w "%{http_code}" -H "Authorization: Bearer $SVC_API_TOKEN" "$SVC_API_URL/api/v1/tasks/$SVC_TASK_ID" > own.txt; git add -A; git commit -qm Own'

/** A service with a runner over ssh, that can become one of the next version. */
async function startOld() {
  await ensureBuilt()
  const folder = await mkdtemp(join(tmpdir(), 'copse-version-'))
  onTestFinished(async () => {
    version.mockReturnValue(now)
    await rm(folder, { recursive: true, force: true })
  })
  const runnerProgram = join(folder, 'brought.mjs')
  await cp(join(projectRoot, 'dist', 'runner', 'runner.mjs'), runnerProgram)
  const far = await startSshJob({ config: { runnerProgram } })
  const there = join(far.home, '.copse-runner', far.runner_id)
  return {
    far,
    there,
    worktree: (task_id: string) => join(there, 'tasks', task_id, 'worktree'),
    programs: () =>
      processesIn([there])
        .filter(({ command }) => command.includes(' serve '))
        .map(({ pid, command }) => ({ pid, file: /runner-\w+\.mjs/.exec(command)?.[0] })),
    upgrade: async () => {
      await writeFile(runnerProgram, await buildOtherRunner(folder, now + 1))
      await far.job.running.app.close()
      version.mockReturnValue(now + 1)
      far.job.running = await far.job.running.restart()
    },
    [Symbol.asyncDispose]: () => far[Symbol.asyncDispose](),
  }
}

test.runIf(sshd !== null)('lets an older program there end its jobs beside the new one', async () => {
  await using old = await startOld()
  const { job } = old.far
  const agent = await job.agent(inTwoSteps)
  const task = await job.task({ review_config: { ci_steps: ['cat own.txt; echo seen'] } })
  const { execution } = await job.claim(task, agent)
  const files = async (task_id: string) =>
    (await job.running.client.call('tasks.diff', { task_id, scope: 'branch' })).files.map(({ path }) => path).sort()
  await expect.poll(() => files(task.id), patient).toEqual(['half.txt', 'one.txt'])
  const [before] = old.programs()
  const shell = oldestIn(old.worktree(task.id))
  expect(shell).toBeDefined()

  await old.upgrade()
  // A second task gets the new program, while the old one has its run.
  await job.running.client.call('runners.update', { runner_id: old.far.runner_id, capacity: 2 })
  const other = await job.task()
  await job.claim(other, await job.agent('echo three > three.txt; git add -A; git commit -qm Three', 'Other'))
  await job.running.taskWhere(other.id, (one) => one.status === 'review' && !one.entry_barrier)
  expect(await files(other.id)).toEqual(['three.txt'])
  const both = old.programs()
  expect(both).toHaveLength(2)
  expect(both).toContainEqual(before)
  expect(new Set(both.map(({ file }) => file)).size).toBe(2)
  expect(oldestIn(old.worktree(task.id))).toEqual(shell)
  const read = () => job.running.client.call('executions.get', { execution_id: execution.id })
  await expect.poll(read, patient).toMatchObject({ status: 'running', attempt: 1, link: { state: 'connected' } })

  // Its work still arrives, its own calls too, and what comes after it is done by the new program.
  await writeFile(join(old.worktree(task.id), 'go.txt'), '')
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await read()).toMatchObject({ status: 'succeeded', attempt: 1 })
  expect(await files(task.id)).toEqual(['half.txt', 'one.txt', 'own.txt', 'two.txt'])
  const { items: reviews } = await job.running.client.call('tasks.reviews', { task_id: task.id })
  expect(reviews[0]?.step_results[0]?.output_tail).toContain('200seen')
  await expect
    .poll(() => old.programs().map(({ pid }) => pid), patient)
    .toEqual(both.map(({ pid }) => pid).filter((pid) => pid !== before?.pid))
  // The runner is removed with all of it.
  await job.settings({ runner_ids: ['here' as RunnerId] })
  await job.running.client.call('runners.delete', { runner_id: old.far.runner_id })
  await expect.poll(() => processesIn([old.far.home]), patient).toEqual([])
})

test.runIf(sshd !== null)('keeps the work of an older program that was killed', async () => {
  await using old = await startOld()
  const { job } = old.far
  const task = await job.task()
  const { execution } = await job.claim(task, await job.agent(inTwoSteps))
  const read = () => job.running.client.call('executions.get', { execution_id: execution.id })
  const diff = () => job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await expect.poll(async () => (await diff()).files.length, patient).toBe(2)
  await old.upgrade()
  await expect.poll(read, patient).toMatchObject({ status: 'running', link: { state: 'connected' } })
  await expect.poll(() => old.programs().length, patient).toBe(2)
  const [first] = old.programs().toSorted((a, b) => a.pid - b.pid)
  await writeFile(join(old.worktree(task.id), 'unsent.txt'), 'unsent')
  process.kill(first?.pid ?? 0, 'SIGKILL')
  await expect.poll(read, patient).toMatchObject({ status: 'lost', attempt: 1 })
  await expect.poll(() => old.programs().length, patient).toBe(1)
  const kept = async () => {
    const { items } = await job.running.client.call('rescues.of_task', { task_id: task.id })
    const names = await Promise.all(items.map(({ commit }) => job.repository.git(['ls-tree', '--name-only', commit])))
    return names.join('\n')
  }
  await expect.poll(kept, patient).toContain('unsent.txt')
  expect(await job.executions(task.id)).toHaveLength(1)
})

test('does nothing in the folder of a task that another program has', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'copse-others-'))
  const closing = new AbortController()
  onTestFinished(async () => {
    closing.abort()
    await rm(folder, { recursive: true, force: true })
  })
  const own = join(folder, 'v1')
  const task_id = '01a22482-5ca8-7000-8000-006ad1eb2660' as TaskId
  const kept = {
    offer: { job_id: '01a22482-5ca8-7000-8000-006ad1eb2661', token: 'token', fence: 1 },
    job: '01a22482-5ca8-7000-8000-006ad1eb2661',
    task_id,
    execution_id: null,
    branch: 'one',
    is_task: true,
    max_file_bytes: 1,
  }
  const at = join(own, 'jobs', kept.job)
  await mkdir(at, { recursive: true })
  await writeFile(join(at, 'job.json'), JSON.stringify(kept))
  // One that it is about to write.
  await mkdir(join(own, 'jobs', 'begun'))
  const links = {
    url: '',
    token: () => '',
    isLinked: () => false,
    connect: () => Promise.resolve(null),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const { signal } = closing
  const others = createOtherPrograms({ folder, links, log: createLogger({ level: 'silent' }) }, { signal })
  const lock = lockDataDir(own)
  expect(await others.look()).toEqual({ kept: [kept], left: [] })
  expect(await others.isBusy(task_id)).toBe(true)
  let isFree = false
  const free = others.untilFree(task_id, { signal }).then(() => (isFree = true))
  await others.isBusy(task_id)
  expect(isFree).toBe(false)
  // It is killed: what it left is this one's to end, once.
  lock[Symbol.dispose]()
  expect(await others.look()).toEqual({ kept: [], left: [{ folder: at, kept, ending: null }] })
  await free
  expect(await others.look()).toEqual({ kept: [], left: [] })
  // An older program can't begin there while that is not done.
  expect(() => lockDataDir(own)).toThrow()
  await rm(at, { recursive: true })
  await others.look()
  lockDataDir(own)[Symbol.dispose]()
})
