import { executorInfos } from '../../../src-shared/contract/executor-profiles.ts'
import { methods, RequestError } from '@agentclientprotocol/sdk'
import type { AnyMessage, PromptResponse, Stream } from '@agentclientprotocol/sdk'
import { policyOf } from '../../domain/access/permissions.ts'
import type { AgentRun } from '../definition.ts'
import type { AgentSession, AgentSessionListener, RunResult } from '../agent/agent-profile.ts'
import { createPermissions } from '../agent/permissions.ts'
import type { PermissionRequest, Permissions } from '../agent/permissions.ts'
import { readJsonLines } from '../agent/read-json-lines.ts'
import { createRunState, toRunResult, recordFailure } from '../agent/run-state.ts'
import type { RunState } from '../agent/run-state.ts'
import { clip, isRecord } from '../agent/text.ts'
import type { AcpAgent } from './acp-agent.ts'
import { createUpdateReader } from './read-updates.ts'
import type { UpdateReader } from './read-updates.ts'
import { AcpSetupError, describeError, openAcpSession } from './session.ts'
import type { AcpSession } from './session.ts'
import { readAskedCall, readUpdate } from './updates.ts'
import { createUsageCount } from './usage.ts'
import type { UsageCount } from './usage.ts'

/** What one conversation holds together. */
interface AcpState {
  readonly agent: AcpAgent
  readonly run: AgentRun
  readonly listener: AgentSessionListener
  readonly story: RunState
  readonly usage: UsageCount
  readonly updates: UpdateReader
  readonly permissions: Permissions
  /** What waits for leave, by the id of its call. */
  readonly asked: Map<string, PermissionRequest>
  /** Words of a person that wait for the end of the turn. */
  readonly queue: string[]
  /** Earlier turns, which an agent tells again, are over. */
  present: boolean
  /** How many updates told of earlier turns. */
  replayed: number
  /** It fell silent in the middle. */
  cutShort: boolean
  /** It has not answered in time after its start. */
  neverBegan: boolean
}

/** Speaks the Agent Client Protocol: a session, a prompt, and further prompts as long as people have something to say. */
export function converseOverAcp(agent: AcpAgent, run: AgentRun, listener: AgentSessionListener): AgentSession {
  const story = createRunState(null)
  const usage = createUsageCount()
  const { isNotice = () => false } = agent
  const updates = createUpdateReader({ cwd: run.cwd, story, usage, listener, isNotice })
  const talk: AcpState = {
    agent,
    run,
    listener,
    story,
    usage,
    updates,
    // Over the protocol a no has no words.
    permissions: createPermissions(run, { tellsWhy: false }),
    asked: new Map(),
    queue: [],
    present: false,
    replayed: 0,
    cutShort: false,
    neverBegan: false,
  }
  const { stream, receive, close } = createStream(listener.write)
  const reader = readJsonLines({ ...listener, onJson: (json) => onMessage(talk, json, receive) })
  return {
    push: reader.push,
    end: () => {
      reader.end()
      updates.flush()
      close()
    },
    begin: (prompt) => void runPromptLoop(talk, stream, prompt),
    send: (text) => {
      talk.queue.push(text)
      return Promise.resolve()
    },
    result: (stderr) => conclude(talk, stderr),
  }
}

/** The SDK's end of the line: what the agent says goes in by `receive`. */
function createStream(write: (text: string) => Promise<void>): {
  readonly stream: Stream
  readonly receive: (message: AnyMessage) => void
  readonly close: () => void
} {
  let controller: ReadableStreamDefaultController<AnyMessage> | undefined
  const readable = new ReadableStream<AnyMessage>({
    start: (its) => void (controller = its),
    cancel: () => void (controller = undefined),
  })
  const writable = new WritableStream<AnyMessage>({ write: (message) => write(`${JSON.stringify(message)}\n`) })
  return {
    stream: { readable, writable },
    receive: (message) => controller?.enqueue(message),
    close: () => {
      controller?.close()
      controller = undefined
    },
  }
}

/** Updates are read here, in their order and however large; requests and answers are the SDK's. */
function onMessage(talk: AcpState, json: unknown, receive: (message: AnyMessage) => void): boolean {
  if (!isRecord(json) || json['jsonrpc'] !== '2.0') return false
  if (json['method'] === methods.client.session.requestPermission) {
    const call = readAskedCall(json)
    if (call !== null) talk.asked.set(call.toolCallId, talk.updates.asked(call))
  }
  if (json['method'] !== methods.client.session.update) {
    // What an agent tells by notifications of its own is not for us.
    if (json['id'] !== undefined || json['method'] === methods.protocol.cancelRequest) receive(json as AnyMessage)
    return true
  }
  const update = readUpdate(json)
  if (update === 'garbage') return false
  if (!talk.present) talk.replayed += 1
  if (update !== null && (talk.present || update.sessionUpdate === 'usage_update')) talk.updates.read(update)
  return true
}

async function runPromptLoop(talk: AcpState, stream: Stream, prompt: string): Promise<void> {
  const { listener, story, usage, updates, queue } = talk
  try {
    const session = await openSession(talk, stream)
    if (talk.run.session_id !== null && talk.agent.replaysAfterLoad === true) await drainReplay(talk, session)
    talk.present = true
    usage.begin(talk.run.session_id === null ? null : talk.run.session_usage?.cost_usd)
    let images = talk.run.images
    for (let words: string | undefined = prompt; words !== undefined; words = queue.shift()) {
      listener.onTurn()
      story.ended = false
      endTurn(talk, await session.prompt(words, images))
      images = []
    }
  } catch (error) {
    updates.flush()
    fail(talk, error)
  }
  listener.onTurnEnd(0)
}

/** Waits until an agent that is still telling of earlier turns has nothing more to tell of them. */
async function drainReplay(talk: AcpState, session: AcpSession): Promise<void> {
  let heard: number
  do {
    heard = talk.replayed
    await session.touch()
  } while (talk.replayed > heard)
}

async function openSession(talk: AcpState, stream: Stream): Promise<AcpSession> {
  const { agent, run, listener, story } = talk
  const session = await openAcpSession({
    run,
    stream,
    model: agent.configuresViaProtocol ? (run.config.model ?? null) : null,
    effort: agent.configuresViaProtocol ? (run.config.effort ?? null) : null,
    free: policyOf(run.config) === 'all' ? (agent.reportsToolsViaPermission === true ? null : true) : false,
    startMs: agent.startMs,
    permit: (toolCallId, signal) => permit(talk, toolCallId, signal),
  })
  story.session_id = session.id
  listener.onSession(session.id)
  return session
}

/** What can't be read is not allowed, unless everything is. */
async function permit(
  { permissions, asked, run }: AcpState,
  toolCallId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const call = asked.get(toolCallId)
  if (call === undefined) return policyOf(run.config) === 'all'
  return (await permissions.decide(call, signal)).allowed
}

const limits: Readonly<Record<string, string>> = {
  max_tokens: 'The agent reached its token limit for one turn.',
  max_turn_requests: 'The agent reached its request limit for one turn.',
}

function endTurn({ agent, updates, usage, listener, story }: AcpState, response: PromptResponse): void {
  updates.flush()
  story.ended = true
  const { finalMessage: words } = story
  if (words !== null && agent.isFailure?.(words) === true) recordFailure(story, words)
  const spent = usage.endTurn(response)
  if (spent !== null) listener.onEntry({ type: 'usage', at: listener.now(), ...spent })
  const limit = limits[response.stopReason]
  const why = limit ?? (response.stopReason === 'refusal' ? 'The model refused to continue.' : null)
  if (why === null) return
  recordFailure(story, why, limit !== undefined)
  listener.onEntry({ type: 'error', at: listener.now(), text: why })
}

/** Whatever went wrong is told; only an agent that fell silent leaves the word to its stderr and its exit. */
function fail(talk: AcpState, error: unknown): void {
  const { agent, story, listener } = talk
  if (!(error instanceof RequestError) && !(error instanceof AcpSetupError)) {
    talk.cutShort = true
    return
  }
  const { executor, signInHint } = agent.program
  const told = error instanceof RequestError ? describeError(error) : error.message
  const text =
    error instanceof AcpSetupError && error.code === 'sign_in'
      ? `${executorInfos[executor].name}: ${told}. ${signInHint}`
      : told
  talk.neverBegan = error instanceof AcpSetupError && error.code === 'no_answer'
  story.ended = true
  recordFailure(story, text)
  listener.onEntry({ type: 'error', at: listener.now(), text: clip(text) })
}

function conclude({ story, run, usage, agent, cutShort, neverBegan }: AcpState, stderr: string): RunResult {
  story.usage = usage.total()
  if (cutShort)
    recordFailure(story, stderr || `${executorInfos[agent.program.executor].name} ended in the middle of its turn.`)
  // What it was waiting for mostly stands on its stderr.
  if (neverBegan && stderr !== '') recordFailure(story, `${story.failure?.text ?? ''} It wrote: ${stderr}`)
  const result = toRunResult(story, stderr)
  // What it never took up is no session to be asked for again, unless it did not come to that.
  return { ...result, session_id: result.session_id ?? (story.failure !== null && !cutShort ? null : run.session_id) }
}
