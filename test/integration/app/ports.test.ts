import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { portBases } from '../../../src-main/workspaces/rules/port-ranges.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { withHooks } from '../../helpers/small-workflow.ts'
import { ordered, workedParent } from '../../helpers/worked-parent.ts'

const workspaceOf = (job: Job, task_id: string) => job.running.client.call('tasks.workspace', { task_id })
const baseOf = async (job: Job, task_id: string) => (await workspaceOf(job, task_id)).port_base

/** A task's dev server: listens on the first and the last port of its range until it is stopped. */
const devServer = `
import { createServer } from 'node:http'
const base = Number(process.env.SVC_PORT_BASE)
const ports = [base, base + 9]
const servers = await Promise.all(ports.map((port) => new Promise((resolve, reject) => {
  const server = createServer((request, response) => {
    response.end(process.env.SVC_TASK_TITLE + ' on ' + port)
    if (request.url === '/stop') servers.forEach((one) => one.close())
  })
  server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server))
})))
await fetch(process.argv[2] + '?title=' + process.env.SVC_TASK_TITLE)
console.log('done')
`

/** Resolves when a task's dev server listens. */
async function startBell() {
  const rung = new Set<string>()
  let heard = Promise.withResolvers<unknown>()
  const server = createServer((request, response) => {
    rung.add(new URL(request.url ?? '', 'http://bell').searchParams.get('title') ?? '')
    response.setHeader('connection', 'close').end()
    heard.resolve(null)
    heard = Promise.withResolvers()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? String(address?.port) : ''}/`,
    all: async (...titles: string[]) => {
      while (!titles.every((title) => rung.has(title))) await heard.promise
    },
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const said = async (port: number, path = '/') =>
  (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })).text()

test.concurrent('lets dev servers of two tasks listen at once on the ports of their worktrees', async () => {
  await using bell = await startBell()
  await using job = await startJob({ files: { 'dev-server.mjs': devServer } })
  const agent = await job.agent(`"${process.execPath}" dev-server.mjs ${bell.url}`)
  const tasks = [await job.task({ title: 'One' }), await job.task({ title: 'Two' })]
  await Promise.all(tasks.map((task) => job.claim(task, agent)))
  await bell.all('One', 'Two')
  for (const { id, title } of tasks) {
    const base = Number(await baseOf(job, id))
    expect([await said(base), await said(base + 9)]).toEqual([`${title} on ${base}`, `${title} on ${base + 9}`])
    expect(await job.running.client.call('tasks.get', { task_id: id })).toMatchObject({ port_base: base })
  }
  // A board shows where a server answers, and when none does any more.
  const project_id = (await job.running.client.call('tasks.get', { task_id: tasks[0]?.id ?? '' })).project_id
  const previews = async () => (await job.running.client.call('tasks.previews', { project_id })).items
  const bases = await Promise.all(tasks.map(async ({ id }) => Number(await baseOf(job, id))))
  expect((await previews()).toSorted((a, b) => a.port - b.port)).toEqual(
    bases.toSorted((a, b) => a - b).map((port) => ({ port_base: port, port })),
  )
  for (const base of bases) await said(base, '/stop')
  await job.running.eventually(previews, (items) => items.length === 0)
  for (const { id } of tasks)
    await job.running.taskWhere(id, (one) => one.review_passed_at !== null && !one.entry_barrier)
})

/** Where scripts record their environment, outside git. */
const note = (who: string) => `echo ${who} $SVC_PORT_BASE >> "$SVC_REPO_PATH/.git/told"`

test.concurrent('passes the same SVC_PORT_BASE to set-up commands, agent, CI steps and hooks', async () => {
  await using job = await startJob({ workflow: withHooks({ review: { after_enter: [{ script: note('hook') }] } }) })
  await job.settings({ setup_commands: [note('setup')] })
  const task = await job.task({ review_config: { ci_steps: [note('ci')] } })
  await job.claim(task, await job.agent(`${note('agent')}; echo done`))
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await job.running.eventually(
    () => job.transitions(task.id),
    (entries) => entries.at(-1)?.hooks.some((one) => one.action === 'script') === true,
  )
  const base = await baseOf(job, task.id)
  expect(base).toBeTypeOf('number')
  const told = await readFile(join(job.repository.path, '.git', 'told'), 'utf8')
  expect(told.trim().split('\n')).toEqual(['setup', 'agent', 'ci', 'hook'].map((who) => `${who} ${base}`))
})

test.concurrent('keeps ports across follow-ups and restarts, and frees them with the worktree', async () => {
  await using job = await startJob()
  const agent = await job.agent(`${note('agent')}; exit 1`)
  const task = await job.task()
  const failedAgain = (times: number) =>
    job.running.eventually(
      () => job.executions(task.id),
      (runs) => runs.filter((one) => one.status === 'failed').length === times,
    )
  await job.claim(task, agent)
  await failedAgain(1)
  const base = await baseOf(job, task.id)
  job.running = await job.running.restart()
  expect(await baseOf(job, task.id)).toBe(base)
  await job.claim(task, agent)
  await failedAgain(2)
  const told = await readFile(join(job.repository.path, '.git', 'told'), 'utf8')
  expect(told).toBe(`agent ${base}\nagent ${base}\n`)

  await job.running.client.call('tasks.cancel', { task_id: task.id })
  expect((await job.running.taskWhere(task.id, (one) => one.status === 'cancelled')).port_base).toBe(base)
  await job.running.client.call('tasks.clean_up_workspace', { task_id: task.id })
  expect(await workspaceOf(job, task.id)).toMatchObject({ status: 'cleaned', port_base: null })
  expect(await job.running.client.call('tasks.get', { task_id: task.id })).toMatchObject({ port_base: null })
})

test.concurrent('skips ports that another program or worktree uses', async () => {
  await using job = await startJob()
  const agent = await job.agent('exit 1')
  const task = await job.task()
  const [first = 0, second = 0, third = 0] = portBases(task.id)
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(first + 7, '127.0.0.1', resolve)
  })
  try {
    await job.claim(task, agent)
    await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
  expect([second, third]).toContain(await baseOf(job, task.id))
})

test.concurrent('gives an ordered subtask its parent’s ports, also on its card', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { parent } = await workedParent(job)
  const base = await baseOf(job, parent.id)
  const child = await job.task(ordered(parent))
  const independent = await job.task({ parent_id: parent.id })
  expect([child.port_base, independent.port_base]).toEqual([base, null])
  await client.call('tasks.cancel', { task_id: parent.id })
  await client.call('tasks.clean_up_workspace', { task_id: parent.id })
  const after = await job.running.taskWhere(child.id, (one) => one.port_base === null)
  expect(after.updated_at > child.updated_at).toBe(true)
})
