import { readdir, readFile, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf } from '../../helpers/refusal.ts'

const ended = (job: Job, task_id: string) =>
  job.running.eventually(
    () => job.executions(task_id),
    ([first]) => first?.finished_at != null,
  )

/** Lists every file at and below a path. */
async function filesBelow(place: string): Promise<string[]> {
  const found = await stat(place).catch(() => null)
  if (found?.isFile()) return [place]
  if (!found?.isDirectory()) return []
  const entries = await readdir(place, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

test('accepts a run’s token for its task and project, nothing of people’s, until the run ends', async () => {
  await using job = await startJob()
  const { client, url } = job.running
  const other = await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  const foreign = await client.call('tasks.create', { project_id: other.id, title: 'Foreign' })
  const asked = [
    `tasks/$SVC_TASK_ID`,
    `projects/$SVC_PROJECT_ID/tasks`,
    `tasks/${foreign.id}`,
    `auth/tokens`,
    `projects/$SVC_PROJECT_ID/members`,
    `projects/$SVC_PROJECT_ID/settings`,
    `projects/$SVC_PROJECT_ID/integration`,
  ]
  const ask = `curl -s -o /dev/null -w '%{http_code} ' -H "Authorization: Bearer $SVC_API_TOKEN" "$SVC_API_URL/api/v1/`
  const command = [
    ...asked.map((path) => `${ask}${path}" >> codes.txt`),
    'printf %s "$SVC_API_TOKEN" > token.txt',
  ].join('; ')
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent(command))
  await ended(job, task.id)
  const codes = (await readFile(join(path, 'codes.txt'), 'utf8')).trim().split(' ')
  expect(Object.fromEntries(asked.map((one, index) => [one.replace(foreign.id, 'foreign'), codes[index]]))).toEqual({
    'tasks/$SVC_TASK_ID': '200',
    'projects/$SVC_PROJECT_ID/tasks': '200',
    'tasks/foreign': '403',
    'auth/tokens': '403',
    'projects/$SVC_PROJECT_ID/members': '403',
    'projects/$SVC_PROJECT_ID/settings': '403',
    'projects/$SVC_PROJECT_ID/integration': '403',
  })
  const token = await readFile(join(path, 'token.txt'), 'utf8')
  expect(token).toMatch(/^svc_[\w-]{43}$/)
  const late = job.running.clientWith(token)
  expect(await refusalOf(late.call('tasks.get', { task_id: task.id }))).toBe('invalid_token')
  const overMcp = await fetch(`${url}/api/v1/mcp?token=${token}`, { method: 'POST' })
  expect(overMcp.status).toBe(401)
})

test('keeps the service’s secrets out of its environment and files', async () => {
  process.env['SVC_SECRET_TRACKER'] = 'tracker-secret-0123456789'
  try {
    await using job = await startJob()
    const { dataDir, token } = job.running
    const task = await job.task({ description: 'With a prompt' })
    const { path } = await job.claim(task, await job.agent('env -0 > environment'))
    await ended(job, task.id)
    const environment = (await readFile(join(path, 'environment'), 'utf8')).split('\0').filter(Boolean)
    const pairs = environment.map(
      (line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const,
    )
    expect(pairs.map(([name]) => name).filter((name) => name.startsWith('SVC_SECRET'))).toEqual([])

    const keys = await filesBelow(join(dataDir, 'secrets'))
    expect(keys.length).toBeGreaterThan(0)
    const secrets = await Promise.all(keys.map(async (file) => (await readFile(file, 'utf8')).trim()))
    secrets.push('tracker-secret-0123456789', token)
    const ours = pairs.map(([, value]) => value).filter((value) => isAbsolute(value) && value.includes(dataDir))
    const reachable = (await Promise.all([...ours, job.repository.path].map(filesBelow))).flat()
    expect(reachable).toContain(join(path, 'environment'))
    for (const file of reachable) {
      const content = await readFile(file, 'latin1')
      for (const secret of secrets) expect(content.includes(secret), file).toBe(false)
    }
  } finally {
    delete process.env['SVC_SECRET_TRACKER']
  }
})

test('redacts what agents and checks print wherever it is stored, shown or sent', async () => {
  await using job = await startJob()
  const { client, dataDir } = job.running
  await job.settings({ redaction_patterns: ['hunter[0-9]+'] })
  const task = await job.task({ review_config: { ci_steps: ['echo check hunter$((1 + 1)); exit 1'] } })
  const command =
    'h=hunter; echo "out ${h}2"; echo "err ${h}2" >&2; echo "mine $SVC_API_TOKEN"; printf %s "$SVC_API_TOKEN" > token.txt'
  const { path } = await job.claim(task, await job.agent(command))
  await job.running.eventually(
    () => client.call('notifications.list', {}),
    ({ items }) => items.some(({ event_type }) => event_type === 'review.failed'),
  )
  const token = await readFile(join(path, 'token.txt'), 'utf8')
  await client.call('tasks.cancel', { task_id: task.id })
  const told = JSON.stringify([
    (await client.call('notifications.list', {})).items,
    (await client.call('tasks.reviews', { task_id: task.id })).items,
    await job.transitions(task.id),
    await job.executions(task.id),
  ])
  const logs = await Promise.all((await filesBelow(join(dataDir, 'logs'))).map((file) => readFile(file, 'latin1')))
  const end = new AbortController()
  let events = ''
  for await (const item of client.events({}, 0, end.signal)) {
    events += JSON.stringify(item)
    if (item.kind === 'event' && item.event.type === 'task.transitioned' && item.event.data.to_state === 'cancelled')
      break
  }
  end.abort()
  const everything = { told, logs: logs.join('\n'), events }
  for (const [where, text] of Object.entries(everything)) {
    expect(text.includes('hunter2'), where).toBe(false)
    expect(text.includes(token), where).toBe(false)
    expect(text.includes('[redacted]'), where).toBe(true)
  }
})

test('redacts values of an agent’s environment and a claim’s overrides, but not plain words', async () => {
  await using job = await startJob()
  const { client, dataDir } = job.running
  const config = {
    command: 'echo "$MY_API_KEY and $EXTRA in $MODE at $CACHE"; echo "$MY_API_KEY" > found.txt; exit 3',
    env: { MY_API_KEY: 'plainwords', MODE: 'development', CACHE: '/var/cache/tool' },
  }
  const agent = await client.call('agents.create', { name: 'Keyed', executor: 'command', config })
  const task = await job.task({ review_config: { ci_steps: [] } })
  const overrides = { env: { EXTRA: 'Correct-Horse 9' } }
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id, overrides })
  await ended(job, task.id)
  const logs = await Promise.all((await filesBelow(join(dataDir, 'logs'))).map((file) => readFile(file, 'utf8')))
  expect(logs.join('')).toContain('[redacted] and [redacted] in development at /var/cache/tool')
  const comment = await client.call('comments.create', {
    task_id: task.id,
    body: 'It said plainwords, Correct-Horse 9.',
  })
  expect(comment.body).toBe('It said [redacted], [redacted].')
  const everything = JSON.stringify([await job.executions(task.id), await job.transitions(task.id), logs])
  for (const secret of ['plainwords', 'Correct-Horse']) expect(everything).not.toContain(secret)
})

test('neither commits nor merges a hard link into the data folder', async () => {
  await using job = await startJob()
  const { client, dataDir } = job.running
  const task = await job.task()
  const agent = await job.agent(
    `ln '${join(dataDir, 'secrets', 'jwt.key')}' notes.bin && echo ok > ok.txt && echo done`,
  )
  await job.claim(task, agent)
  const ready = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const merge = client.call('tasks.transition', { task_id: task.id, status: 'merging', version: ready.version })
  expect(await refusalOf(merge)).toBe('workspace_failed')
  expect(await job.repository.git(['ls-tree', '--name-only', 'main'])).not.toContain('notes.bin')
})
