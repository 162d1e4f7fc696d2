import { inputRequired } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Ask, Execution } from '../../../src-shared/contract/executions.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { taskId } from './arguments.ts'
import type { McpScope } from './scope.ts'
import { defineTool, type McpDialog } from './tool.ts'

const longestWaitSeconds = 300

/** Waits for the end of a run, or for a question of its agent. */
export const awaitRun = defineTool('tasks.get', {
  title: 'Wait for a run',
  description:
    'Waits until the run of a task has ended, or its agent asks something, and tells which. done is false when the time was ' +
    'over before: call it again. A question is shown to your person where your client can ask them, and their answer is ' +
    'passed on; else it stands in question for you to pass on.',
  effect: 'reads',
  input: z.object({
    task_id: taskId,
    wait_seconds: z.int().min(0).max(longestWaitSeconds).default(60).describe('How long to wait.'),
  }),
  output: z.object({
    done: z.boolean().describe('No run is queued or running.'),
    status: z.string().describe('The state of the task.'),
    run: z
      .object({ id: z.string(), status: z.string(), summary: z.string().nullable(), error: z.string().nullable() })
      .nullable(),
    trouble: z.string().nullable().describe('What holds the task up, and what to do.'),
    question: z.object({ ask_id: z.string(), text: z.string(), options: z.array(z.string()) }).nullable(),
  }),
  run: async ({ task_id, wait_seconds }, scope, dialog) => {
    const id = await scope.taskId(task_id)
    const before = await readTask(scope, id)
    const asked = before.run?.asks?.find(({ id: ask }) => dialog.answered(formOf(ask)) !== null)
    if (before.run && asked) await pass(scope, before.run, asked, dialog)
    const found = await until(scope, id, wait_seconds)
    const ask = found.run?.asks?.[0]
    if (ask && dialog.canAsk && scope.isPerson) return inputRequired({ inputRequests: { [formOf(ask.id)]: form(ask) } })
    return toAnswer(found)
  },
})

interface Found {
  readonly status: string
  readonly trouble: string | null
  readonly run: Execution | null
}

const isOpen = (run: Execution | null) => run?.status === 'queued' || run?.status === 'running'

async function readTask(scope: McpScope, task_id: TaskId): Promise<Found> {
  const task = await scope.call('tasks.get', { task_id })
  const { message, advice } = task.error_annotation ?? {}
  const trouble = message === undefined ? null : [message, advice].filter((part) => part !== undefined).join(' ')
  const active = task.active_execution_id
  const run = active === null ? null : await scope.call('executions.get', { execution_id: active })
  const last = run ?? (await scope.call('tasks.executions', { task_id })).items[0] ?? null
  return { status: task.status, trouble, run: last }
}

/** Subscribes first, then reads, and reads again after each event of the task. */
async function until(scope: McpScope, task_id: TaskId, seconds: number): Promise<Found> {
  const time = AbortSignal.timeout(Math.max(1, seconds * 1_000))
  let found = await readTask(scope, task_id)
  if (seconds === 0) return found
  const isOver = () => !isOpen(found.run) || (found.run?.asks?.length ?? 0) > 0
  try {
    for await (const item of scope.events(time)) {
      const isOurs = item.kind !== 'event' || !('task_id' in item.event.data) || item.event.data.task_id === task_id
      if (isOurs) found = await readTask(scope, task_id)
      if (isOver()) break
    }
  } catch (error) {
    if (!time.aborted || scope.gone.aborted) throw error
  }
  return isOver() ? found : readTask(scope, task_id)
}

function toAnswer({ status, trouble, run }: Found) {
  const ask = run?.asks?.[0]
  return {
    done: !isOpen(run),
    status,
    run: run && { id: run.id, status: run.status, summary: run.summary, error: run.error },
    trouble,
    question: ask
      ? {
          ask_id: ask.id,
          text: [ask.text, ask.target].filter(Boolean).join(' '),
          options: ask.options.map(({ label }) => label),
        }
      : null,
  }
}

const formOf = (ask_id: string) => `ask-${ask_id}`

/** Returns the agent's question as a form for the caller's user. */
function form({ text, target, options, takes_text }: Ask) {
  const choice = { type: 'string' as const, title: 'Answer', enum: options.map(({ label }) => label) }
  const words = { type: 'string' as const, title: options.length > 0 ? 'In your words (optional)' : 'Answer' }
  return inputRequired.elicit({
    message: [text, target].filter(Boolean).join(' '),
    requestedSchema: {
      type: 'object',
      properties: { ...(options.length > 0 && { option: choice }), ...(takes_text && { text: words }) },
      required: options.length > 0 ? ['option'] : ['text'],
    },
  })
}

const Answer = z.object({ option: z.string().optional(), text: z.string().trim().optional() })

/** Answers the agent's question with what the caller's user entered. */
async function pass(scope: McpScope, { id }: Execution, ask: Ask, dialog: McpDialog): Promise<void> {
  const answer = Answer.safeParse(dialog.answered(formOf(ask.id)))
  if (!answer.success) return
  const { option, text = '' } = answer.data
  const chosen = ask.options.find(({ label }) => label === option)
  await scope.call('executions.answer', {
    execution_id: id,
    ask_id: ask.id,
    ...(chosen && { option_id: chosen.id }),
    ...(text !== '' && ask.takes_text && { text }),
  })
}
