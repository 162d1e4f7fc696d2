import { access, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Place } from '../../../src-main/ports/place.ts'
import { startJob } from '../../helpers/job.ts'
import { script, setHooks } from '../../helpers/lifecycle.ts'
import { onePlace } from '../../helpers/one-place.ts'
import { startPipedPlace } from '../../helpers/piped-place.ts'

/** Prints the process IDs of all that a shell was started by. */
const ancestors = 'p=$$; while [ "$p" -gt 1 ]; do p=$(ps -o ppid= -p "$p" | tr -d " "); echo "$p"; done'

test('takes a task from a claim to the base branch in a second place', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-place-'))
  await using second = await startPipedPlace(dataDir)
  const askedHere = new Set<string>()
  await using job = await startJob({
    places: (here) => onePlace(second.place, watchedPlace(here, askedHere)),
  })
  askedHere.clear()
  const { client } = job.running
  const own = String(second.pid)
  const landed = join(dataDir, 'landed')
  await job.settings({
    setup_commands: [`(${ancestors}) > setup.log`],
    landing: { mode: 'serial', steps: [`(${ancestors}) > ${landed}`], max_parallel: 2, retry_failed: false },
  })
  await setHooks(job, { before_work: [script(`(${ancestors}) > hook.log`)] })
  const agent = await job.agent(
    `cat > prompt.txt; (${ancestors}) > agent.log; if grep -q "Say it louder" prompt.txt; then echo HELLO; else echo hello; fi > hello.txt; git add -A; git commit -qm "Say hello"; echo more > left.txt`,
  )
  const task = await job.task({ review_config: { ci_steps: [ancestors] } })
  const { path } = await job.claim(task, agent)
  expect(path.startsWith(join(dataDir, 'workspaces'))).toBe(true)

  const inReview = (attempt: number) =>
    job.running.taskWhere(
      task.id,
      (one) => one.review_passed_at !== null && !one.entry_barrier && one.review_summary?.attempt_number === attempt,
    )
  await inReview(1)
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Say it louder' })
  const reviewed = await inReview(2)
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  const checks = reviews.flatMap((review) => review.step_results.map((step) => step.output_tail.split('\n')))
  expect(checks).toHaveLength(2)
  for (const processes of checks) expect(processes).toContain(own)
  const diff = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  const files = ['agent.log', 'hello.txt', 'hook.log', 'left.txt', 'prompt.txt', 'setup.log']
  expect(diff.files.map((file) => file.path).sort()).toEqual(files)

  // A base that has moved since is what a landing tests.
  await job.repository.commit('Move on', { 'other.txt': 'other\n' })
  const { task: merged } = await client.call('tasks.transition', {
    task_id: task.id,
    status: 'merging',
    version: reviewed.version,
  })
  expect(merged.status).toBe('done')
  expect(await job.repository.git(['show', 'main:hello.txt'])).toBe('HELLO')
  for (const file of ['setup.log', 'hook.log', 'agent.log']) {
    expect((await job.repository.git(['show', `main:${file}`])).split('\n')).toContain(own)
  }
  await expect(access(path)).rejects.toThrow('ENOENT')
  expect((await readFile(landed, 'utf8')).split('\n')).toContain(own)
  expect([...askedHere]).toEqual([])
})

/** Notes what is asked of a place. */
function watchedPlace(place: Place, asked: Set<string>): Place {
  const watched = Object.entries(place).map(([name, port]: [string, unknown]) => {
    if (typeof port !== 'object' || port === null) return [name, port]
    const noting = new Proxy(port, {
      get: (target, key): unknown => {
        asked.add(`${name}.${String(key)}`)
        return Reflect.get(target, key)
      },
    })
    return [name, noting]
  })
  return Object.fromEntries(watched) as Place
}
