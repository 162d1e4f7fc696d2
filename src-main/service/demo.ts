import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { EventEnvelope } from '../../src-shared/contract/events.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../src-shared/contract/operations.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { Resources } from '../platform/config/paths.ts'
import { StartRefused, startService, type Service } from './start-service.ts'

export interface DemoOptions {
  readonly program: Resources & { readonly version: string }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly json: boolean
  /** Keep the data folder and its repository for inspection. */
  readonly keep: boolean
}

const limitMs = 120_000

/**
 * Runs `svc demo`: a service in a temporary folder, a small repository, and one task that a scripted agent takes from
 * claim to merge. Prints each step; resolves to the exit code.
 */
export async function runDemo(options: DemoOptions): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-demo-'))
  const print = printer(options.json)
  try {
    const env = { PATH: options.env['PATH'], SVC_LOG_LEVEL: 'silent' }
    await using service = await startService({ program: options.program, env, anyPort: true, dataDir, port: '0' })
    print('started', `Copse runs at ${service.url}`)
    return await walk(service, print)
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error
    process.stderr.write(`copse: ${error.message}\n`)
    return error.exitCode
  } finally {
    if (options.keep) print('kept', `Everything is kept in ${dataDir}`)
    else await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

type Print = (step: string, text: string) => void

function printer(json: boolean): Print {
  const begun = performance.now()
  return (step, text) => {
    const seconds = (performance.now() - begun) / 1_000
    const line = json
      ? JSON.stringify({ step, text, seconds: Number(seconds.toFixed(3)) })
      : `${seconds.toFixed(1).padStart(5)} s  ${text}`
    process.stdout.write(`${line}\n`)
  }
}

async function walk(service: Service, print: Print): Promise<number> {
  const failed = new AbortController()
  const signal = AbortSignal.any([AbortSignal.timeout(limitMs), failed.signal])
  const context = { principal: service.app.identity.localPrincipal(), signal, remote_address: null }
  const call = async <N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>> =>
    (await service.app.api.call(name, input, context)) as OperationOutput<N>
  const made = call('demo.create', {})
  // It is awaited at the end, because its events come before; where it is refused none come.
  made.catch((error: unknown) => failed.abort(error))
  let task: Task | null = null
  const seen = new Set<string>()
  for await (const item of service.app.api.events({}, 0, context)) {
    if (item.kind !== 'event') continue
    // The first task is the one that is merged.
    if (item.event.type === 'task.created' && task === null) {
      task = item.event.data.task
      print('created', `A repository, a project, an agent and the task “${task.title}”`)
    }
    const told = task && describeEvent(item.event, task.id)
    if (told && !seen.has(told.text)) print(told.step, told.text)
    if (told) seen.add(told.text)
    if (told?.step === 'cleaned') break
    if (told?.step === 'stuck') return 1
  }
  if (failed.signal.aborted) await made
  if (signal.aborted) {
    print('stuck', `The demo did not finish within ${limitMs / 1_000} s`)
    return 1
  }
  const { project } = await made
  const repository = project.repos[0]?.path ?? ''
  const { stdout } = await promisify(execFile)('git', ['log', '--oneline', '--graph', 'main'], { cwd: repository })
  print('merged', `main of the repository ${repository} now:\n${stdout.trimEnd().replace(/^/gm, '         ')}`)
  return 0
}

/** Returns the step that an event means to a viewer, or null. */
function describeEvent(event: EventEnvelope, task_id: TaskId): { readonly step: string; readonly text: string } | null {
  if (!('task_id' in event.data) || event.data.task_id !== task_id) return null
  switch (event.type) {
    case 'task.transitioned': {
      const { to_state, from_state, task } = event.data
      if (to_state === 'done') return { step: 'done', text: 'Merged: the task is done' }
      const stuck = to_state === 'blocked' || to_state === 'merge_failed' || to_state === 'cancelled'
      if (stuck) return { step: 'stuck', text: `The task went to ${to_state}: ${task.error_annotation?.message ?? ''}` }
      return { step: to_state, text: `${from_state} → ${to_state}` }
    }
    case 'task.updated': {
      const { error_annotation } = event.data.task
      return error_annotation ? { step: 'stuck', text: error_annotation.message } : null
    }
    case 'workspace.cleaned':
      return { step: 'cleaned', text: `The worktree is gone; its branch ${event.data.branch} stays` }
    case 'execution.started':
      return { step: 'agent_started', text: 'The agent works in its own worktree' }
    case 'execution.finished':
      return { step: 'agent_finished', text: `The agent ${event.data.execution.status}` }
    case 'review.updated': {
      const step = event.data.review.step_results.at(-1)
      if (step?.exit_code === undefined || step.exit_code === null) return null
      return { step: 'ci', text: `CI: ${step.command} exited ${step.exit_code}` }
    }
    default:
      return null
  }
}
