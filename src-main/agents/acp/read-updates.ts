import type { AgentSessionListener } from '../agent/agent-profile.ts'
import type { PermissionRequest } from '../agent/permissions.ts'
import { recordToolUse, recordMessage } from '../agent/run-state.ts'
import type { RunState } from '../agent/run-state.ts'
import { clip, isRecord, isText } from '../agent/text.ts'
import { describePermissionRequest, describeCall, resultOfCall } from './describe-call.ts'
import type { Call, Update } from './updates.ts'
import type { UsageCount, UsageNews } from './usage.ts'

export interface UpdateReader {
  read(update: Update): void
  /** Records the known part of a call that needs permission and returns it. */
  asked(call: Call): PermissionRequest
  /** Writes collected chunks at the end of a turn. */
  flush(): void
}

export interface UpdateReaderOptions {
  readonly cwd: string
  readonly story: RunState
  readonly usage: UsageCount
  readonly listener: Pick<AgentSessionListener, 'onEntry' | 'now'>
  readonly isNotice: (text: string) => boolean
  readonly isFailure: (text: string) => boolean
  /** Called when a call has ended well. */
  readonly onDone: (id: string, call: PermissionRequest) => void
}

/** Messages arrive in chunks; one longer than this becomes several entries. */
const maxGathered = 100_000

/** Notices that a request was refused and is repeated, which a person wants to know. */
const refusedAgain = /\bretrying\b/i

/** The status of a refusal, which tells a program's report from a model's sentence. */
const statusWords = /\b[45]\d\d\b/

interface KnownCall {
  call: Call
  readonly title: string
  told: boolean
}

/**
 * Converts session updates into transcript entries. Consecutive chunks become one entry. A call is written once it is
 * known what it does, often later than its start.
 */
export function createUpdateReader(options: UpdateReaderOptions): UpdateReader {
  const { cwd, story, usage, listener, isNotice, isFailure, onDone } = options
  const calls = new Map<string, KnownCall>()
  let gathered: { type: 'message' | 'thinking'; id: string | null; text: string } | null = null

  const flush = (): void => {
    const words = gathered
    gathered = null
    if (words === null || words.text.trim() === '') return
    if (words.type === 'message') recordMessage(story, words.text)
    listener.onEntry({ type: words.type, at: listener.now(), text: clip(words.text) })
  }
  const tellAssumed = (assumed: UsageNews | null): void => {
    if (assumed !== null) listener.onEntry({ type: 'usage', at: listener.now(), ...assumed })
  }
  const gather = (type: 'message' | 'thinking', text: string, id: string | null): void => {
    if (text === '') return
    if (isNotice(text)) {
      if (refusedAgain.test(text)) listener.onEntry({ type: 'error', at: listener.now(), text: clip(text.trim()) })
      return
    }
    tellAssumed(usage.called())
    const isOther = gathered !== null && (gathered.type !== type || gathered.id !== id)
    // The program's own report is no part of what the model has said before.
    const isReport = isFailure(text) && statusWords.test(text)
    if (isOther || isReport || (gathered?.text.length ?? 0) > maxGathered) flush()
    gathered ??= { type, id, text: '' }
    gathered.text += text
  }
  const tell = (known: KnownCall): void => {
    if (known.told) return
    known.told = true
    recordToolUse(story)
    const { call, title } = known
    const about = describeCall(call, title, cwd)
    listener.onEntry({ type: 'tool_call', at: listener.now(), id: call.toolCallId, ...about })
  }
  const mergeUpdate = (update: Call): KnownCall => {
    flush()
    const begun = calls.get(update.toolCallId)
    if (begun === undefined) tellAssumed(usage.called())
    const known = begun ?? { call: update, title: update.title ?? '', told: false }
    known.call = merge(known.call, update)
    calls.set(update.toolCallId, known)
    return known
  }
  const follow = (update: Call): void => {
    const known = mergeUpdate(update)
    const over = update.status === 'completed' || update.status === 'failed'
    if (over || update.status === 'in_progress' || hasInput(known.call)) tell(known)
    if (!over) return
    usage.toolEnded()
    calls.delete(update.toolCallId)
    const id = update.toolCallId
    if (update.status === 'completed') onDone(id, describePermissionRequest(known.call, known.title, cwd))
    listener.onEntry({ type: 'tool_result', at: listener.now(), id, ...resultOfCall(known.call) })
  }
  const tellUsage = (): void => {
    const news = usage.news()
    if (news !== null) listener.onEntry({ type: 'usage', at: listener.now(), ...news })
  }
  return {
    read(update) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
        case 'agent_thought_chunk': {
          usage.addOf(update._meta)
          const type = update.sessionUpdate === 'agent_message_chunk' ? 'message' : 'thinking'
          gather(type, update.content.text ?? '', update.messageId ?? null)
          return tellUsage()
        }
        case 'tool_call':
        case 'tool_call_update':
          return follow(update)
        case 'usage_update':
          usage.cost(update.cost ?? null)
          tellAssumed(usage.context(isOfCall(update) ? (update.used ?? null) : null, modelIn(update._meta)))
          return tellUsage()
      }
    },
    asked: (call) => {
      const known = mergeUpdate(call)
      tell(known)
      return describePermissionRequest(known.call, known.title, cwd)
    },
    flush,
  }
}

/** Returns whether the context is that of a model call; a cost comes at the end of a turn, whose calls were told. */
const isOfCall = ({ used, cost }: Extract<Update, { sessionUpdate: 'usage_update' }>): boolean =>
  cost == null && (used ?? 0) > 0

/** Returns the model that an agent names beside its figures: `_claude/model`. */
function modelIn(meta: unknown): string | null {
  const named = isRecord(meta) ? Object.entries(meta).find(([key]) => /(?:^|\/)model$/.test(key))?.[1] : undefined
  return isText(named) ? named : null
}

/** An update contains only changed fields. */
function merge(before: Call, update: Call): Call {
  const news = Object.entries(update).filter(([, value]) => value !== undefined && value !== null)
  return { ...before, ...Object.fromEntries(news) }
}

/** The working directory alone does not say what a command does. */
const hasInput = ({ rawInput }: Call): boolean =>
  isRecord(rawInput) && Object.keys(rawInput).some((key) => key !== 'cwd')
