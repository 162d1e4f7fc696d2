#!/usr/bin/env node
// A worker that runs elsewhere: takes a project's tasks, runs a command in each task's worktree, hands the result in.
// Needs Node 20 and nothing else. See docs/external-agents.md.
//
//   SVC_API_URL=http://127.0.0.1:4870 SVC_API_TOKEN=svc_… \
//   node worker.mjs --project Shop --agent Remote [--status todo] [--once] [--heartbeat 30] -- ./do-the-work.sh
import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values: options, positionals: command } = parseArgs({
  allowPositionals: true,
  options: {
    project: { type: 'string' },
    agent: { type: 'string' },
    status: { type: 'string', default: 'todo' },
    once: { type: 'boolean', default: false },
    heartbeat: { type: 'string', default: '30' },
  },
})
const { SVC_API_URL: address, SVC_API_TOKEN: token, SVC_DAEMON_ID: daemon, SVC_DAEMON_TOKEN: daemonToken } = process.env
if (!address || !token || !options.agent || command.length === 0) {
  console.error('Set SVC_API_URL and SVC_API_TOKEN, and say --agent <agent> -- <command>.')
  process.exit(2)
}

/** Aborted when the worker itself is told to end. */
const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ending.abort())

async function api(method, path, body, bearer = token) {
  const response = await fetch(`${address}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = response.status === 204 ? null : await response.json()
  if (response.ok) return answer
  throw Object.assign(new Error(answer.error.message), { status: response.status, code: answer.error.code })
}

/** Asks `check` now and after every event of the service, until it answers something. */
async function until(check, signal) {
  for (;;) {
    const leave = new AbortController()
    try {
      const stream = AbortSignal.any([leave.signal, signal])
      const headers = { authorization: `Bearer ${token}` }
      const { body, ok } = await fetch(`${address}/api/v1/events`, { headers, signal: stream })
      // The first piece comes at once: from then on nothing is missed.
      for await (const _piece of ok ? body : []) {
        const found = await check()
        if (found) return found
      }
    } catch (error) {
      if (signal.aborted) return null
      if (error.status !== undefined) throw error
      console.error(`The service is away: ${error.message}`)
    } finally {
      leave.abort()
    }
    await delay(2_000, null, { signal }).catch(() => null)
    if (signal.aborted) return null
  }
}

const named = (kind, items, text) => {
  const found = items.filter(({ id, name }) => text === undefined || id === text || name === text)
  if (found.length === 1) return found[0]
  console.error(`Say which ${kind}: ${items.map(({ name }) => name).join(', ')}.`)
  process.exit(2)
}

/** An execution that waits for us: one that we were given (feedback, or from before a restart), else one that we claim. */
async function nextExecution(project, agent) {
  const ours = await api('GET', `/projects/${project.id}/tasks?assignee=${agent.id}&limit=200`)
  for (const { active_execution_id: id } of ours.items) {
    const execution = id && (await api('GET', `/executions/${id}`))
    if (execution && execution.agent_id === agent.id && execution.status === 'running') return execution
  }
  const free = await api('GET', `/projects/${project.id}/tasks?status=${options.status}&limit=200`)
  for (const task of free.items) {
    try {
      return (await api('POST', `/tasks/${task.id}/claim`, { agent_id: agent.id })).execution
    } catch (error) {
      // Someone else was faster, or it waits for another task: the next one may be free.
      if (error.status !== 409) throw error
    }
  }
  return null
}

/** Says that we are alive; false when a person wants it to stop. */
async function beat(execution) {
  if (daemon && daemonToken) {
    const report = { executions: [{ id: execution.id }] }
    const answer = await api('POST', `/daemons/${daemon}/report`, report, daemonToken)
    return answer.executions[0].action === 'continue'
  }
  return api('POST', `/executions/${execution.id}/heartbeat`, {}).then(
    ({ action }) => action === 'continue',
    (error) => {
      if (error.code === 'execution_not_running') return false
      throw error
    },
  )
}

/** Runs the command in the worktree; its process group ends with `stop`. */
function run(execution, task, path, stop) {
  const env = { ...process.env, SVC_TASK_ID: task.id, SVC_TASK_TITLE: task.title, SVC_EXECUTION_ID: execution.id }
  // The worker's own keys are none of the command's business.
  for (const secret of ['SVC_API_TOKEN', 'SVC_DAEMON_TOKEN']) delete env[secret]
  return new Promise((resolve) => {
    const [file, ...args] = command
    const child = spawn(file, args, { cwd: path, env, detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (data) => {
      process.stdout.write(data)
      said = (said + String(data)).slice(-2_000)
    })
    child.stdin.on('error', () => {}) // A command that does not read its prompt.
    child.stdin.end(execution.prompt)
    const end = (signal) => {
      try {
        if (child.pid) process.kill(-child.pid, signal)
      } catch (error) {
        if (error.code !== 'ESRCH') throw error
      }
    }
    const stopNow = () => {
      end('SIGTERM')
      setTimeout(end, 10_000, 'SIGKILL').unref()
    }
    if (stop.aborted) stopNow()
    stop.addEventListener('abort', stopNow)
    child.on('error', (error) => resolve({ ok: false, summary: error.message }))
    child.on('close', (code) => resolve({ ok: code === 0, summary: said.trim() || `The agent failed with ${code}.` }))
  })
}

async function work({ id, task_id }) {
  const hasBegun = async () => {
    const execution = await api('GET', `/executions/${id}`)
    return execution.status === 'queued' ? null : execution
  }
  const execution = await until(hasBegun, ending.signal)
  if (execution?.status !== 'running') return
  const task = await api('GET', `/tasks/${task_id}`)
  const { path } = await api('GET', `/tasks/${task_id}/workspace`)
  console.log(`Working on "${task.title}" in ${path}`)

  const stopped = new AbortController()
  const done = new AbortController()
  const check = () =>
    beat(execution).then(
      (alive) => alive || stopped.abort(),
      (error) => console.error(error.message),
    )
  const timer = setInterval(() => void check(), Number(options.heartbeat) * 1_000)
  const isOver = async () => (await api('GET', `/executions/${id}`)).finished_at
  until(isOver, done.signal).then((over) => over && stopped.abort(), check)
  await check()
  const { ok, summary } = await run(execution, task, path, AbortSignal.any([stopped.signal, ending.signal]))
  clearInterval(timer)
  done.abort()
  if (stopped.signal.aborted) return console.log('Stopped by a person.')
  await api('POST', `/executions/${id}/finish`, { status: ok ? 'succeeded' : 'failed', summary })
  console.log(ok ? 'Handed in.' : 'Failed.')
}

const project = named('project', (await api('GET', '/projects')).items, options.project)
const agent = named('agent', (await api('GET', '/agents')).items, options.agent)
console.log(`Waiting for tasks of ${project.name} in ${options.status}`)
while (!ending.signal.aborted) {
  const execution = await until(() => nextExecution(project, agent), ending.signal)
  if (execution) await work(execution)
  if (options.once) break
}
process.exit(0)
