import { z } from 'zod'
import { escapeControls } from '../../../src-shared/lang/hidden-characters.ts'
import type { AgentRequest } from '../../ports/executors.ts'
import type { PermissionRequest, Permissions } from '../agent/permissions.ts'
import { pathsIn } from '../agent/places.ts'
import { mcpServerName } from '../agent/mcp-server.ts'
import { describeTool } from './describe-tool.ts'

/**
 * With `--permission-prompt-tool stdio`, Claude Code sends control requests in its stream and waits for a control
 * response on its stdin (as of 2.1.330).
 */
const CanUseTool = z.looseObject({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({
    subtype: z.literal('can_use_tool'),
    tool_name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
})
const Cancel = z.looseObject({ type: z.literal('control_cancel_request'), request_id: z.string() })
const Control = z.union([CanUseTool, Cancel])
export type ControlMessage = z.infer<typeof Control>

/** Returns the control message of a line, or null if it needs no answer here. */
export function readControl(json: unknown): ControlMessage | null {
  const control = Control.safeParse(json)
  return control.success ? control.data : null
}

/** The tool with which Claude Code asks people. */
export const questionTool = 'AskUserQuestion'

export interface ControlOptions {
  readonly permissions: Permissions
  readonly cwd: string
  /** Writes a line to Claude Code's stdin. */
  readonly send: (message: object) => Promise<void>
}

export interface Control {
  onMessage(message: ControlMessage): void
  /** Withdraws pending requests after the end. */
  close(): void
}

/** Answers control requests, each as soon as it is decided. */
export function createControl({ permissions, cwd, send }: ControlOptions): Control {
  const open = new Map<string, AbortController>()
  // A process that can't be reached has ended; its exit code says so.
  const respond = (response: object): Promise<void> =>
    send({ type: 'control_response', response }).catch(() => undefined)
  const answer = async (request_id: string, { tool_name: tool, input }: CanUseToolRequest): Promise<void> => {
    const controller = new AbortController()
    open.set(request_id, controller)
    try {
      const response =
        tool === questionTool
          ? await answerQuestions(permissions, input, controller.signal)
          : await decide(permissions, callOf(tool, input, cwd), input, controller.signal)
      if (!controller.signal.aborted) await respond({ subtype: 'success', request_id, response })
    } catch (error) {
      await respond({ subtype: 'error', request_id, error: error instanceof Error ? error.message : String(error) })
    } finally {
      open.delete(request_id)
    }
  }
  return {
    onMessage: (message) => {
      if (message.type === 'control_request') void answer(message.request_id, message.request)
      else open.get(message.request_id)?.abort()
    },
    close: () => {
      for (const controller of open.values()) controller.abort()
    },
  }
}

type CanUseToolRequest = z.infer<typeof CanUseTool>['request']
type Input = CanUseToolRequest['input']
type Decision =
  | { readonly behavior: 'allow'; readonly updatedInput: Input }
  | { readonly behavior: 'deny'; readonly message: string }

function callOf(tool: string, input: Input, cwd: string): PermissionRequest {
  const ours = tool.startsWith(`mcp__${mcpServerName}__`)
  return { tool, ...describeTool(tool, input, cwd), input, ours, paths: pathsIn(input) }
}

async function decide(
  permissions: Permissions,
  call: PermissionRequest,
  input: Input,
  signal: AbortSignal,
): Promise<Decision> {
  const { allowed, reason } = await permissions.decide(call, signal)
  if (allowed) return { behavior: 'allow', updatedInput: input }
  return { behavior: 'deny', message: reason === null ? refused : `A person refused this: ${reason}` }
}

const refused = 'A person refused this. Find another way, or say what you need it for.'

const Questions = z.array(
  z.looseObject({
    question: z.string(),
    multiSelect: z.boolean().optional(),
    options: z.array(z.looseObject({ label: z.string(), description: z.string().optional() })).default([]),
  }),
)

/** Asks people one question after the other. */
async function answerQuestions(permissions: Permissions, input: Input, signal: AbortSignal): Promise<Decision> {
  const questions = Questions.safeParse(input['questions'])
  if (!questions.success) return { behavior: 'deny', message: 'The questions can’t be read. Ask in plain words.' }
  const answers: Record<string, string> = {}
  for (const { question, multiSelect = false, options } of questions.data) {
    const request: AgentRequest = {
      kind: 'question',
      text: escapeControls(question),
      tool: questionTool,
      action: null,
      target: null,
      detail: null,
      diff: null,
      options: options.map(({ label, description = null }, index) => ({
        id: String(index + 1),
        label,
        description,
        kind: 'choice',
      })),
      multiple: multiSelect,
      takes_text: true,
    }
    const answer = await permissions.ask(request, signal)
    if (answer === null) return { behavior: 'deny', message: 'No one answers. Decide yourself, and say how.' }
    answers[question] = [answer.option?.label, answer.text].filter((part) => part).join(': ')
  }
  return { behavior: 'allow', updatedInput: { ...input, answers } }
}
