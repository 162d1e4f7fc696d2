import { z } from 'zod'

/**
 * The updates in `session/update` (protocol version 1). Only fields read here are described, loosely: agents add
 * fields, and one unexpected field must not lose the rest.
 */
const Content = z.looseObject({ type: z.string(), text: z.string().optional() })

const CallContent = z.looseObject({
  type: z.string(),
  content: Content.optional().catch(undefined),
  path: z.string().optional(),
  oldText: z.string().nullish(),
  newText: z.string().optional(),
})

const Meta = z.looseObject({}).nullish().catch(null)

const Call = z.looseObject({
  toolCallId: z.string(),
  title: z.string().nullish(),
  name: z.string().nullish(),
  kind: z.string().nullish(),
  status: z.string().nullish(),
  content: z.array(CallContent).nullish().catch(null),
  locations: z
    .array(z.looseObject({ path: z.string() }))
    .nullish()
    .catch(null),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  _meta: Meta,
})
export type Call = z.infer<typeof Call>

const Chunk = { content: Content, messageId: z.string().nullish(), _meta: Meta }

const Update = z.discriminatedUnion('sessionUpdate', [
  z.looseObject({ sessionUpdate: z.literal('agent_message_chunk'), ...Chunk }),
  z.looseObject({ sessionUpdate: z.literal('agent_thought_chunk'), ...Chunk }),
  Call.extend({ sessionUpdate: z.literal('tool_call') }),
  Call.extend({ sessionUpdate: z.literal('tool_call_update') }),
  z.looseObject({
    sessionUpdate: z.literal('usage_update'),
    used: z.number().min(0).nullish().catch(null),
    _meta: Meta,
    cost: z
      .looseObject({ amount: z.number().min(0), currency: z.string() })
      .nullish()
      .catch(null),
  }),
])
export type Update = z.infer<typeof Update>

const Notification = z.looseObject({
  method: z.literal('session/update'),
  params: z.looseObject({ update: z.looseObject({ sessionUpdate: z.string() }) }),
})
const knownUpdates: ReadonlySet<string> = new Set(Update.options.map((option) => option.shape.sessionUpdate.value))

/** Returns the update in a message, `null` if it is of no known kind, `garbage` if it is malformed. */
export function readUpdate(json: unknown): Update | null | 'garbage' {
  const notification = Notification.safeParse(json)
  if (!notification.success) return 'garbage'
  const { update } = notification.data.params
  if (!knownUpdates.has(update.sessionUpdate)) return null
  const known = Update.safeParse(update)
  return known.success ? known.data : 'garbage'
}

const Asking = z.looseObject({ params: z.looseObject({ toolCall: Call }) })

/** Returns the call of a `session/request_permission`, or null if it can't be read. */
export function readAskedCall(json: unknown): Call | null {
  const asking = Asking.safeParse(json)
  return asking.success ? asking.data.params.toolCall : null
}
