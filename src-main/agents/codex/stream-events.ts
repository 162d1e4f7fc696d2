import { z } from 'zod'

/**
 * The output of `codex exec --json` (as of 0.169.0), one JSON object per line. Only fields read here are described,
 * loosely: the format grows with every release.
 */
const count = z.number().min(0).optional()

const Item = z.looseObject({
  id: z.string(),
  type: z.string(),
  text: z.string().optional(),
  message: z.string().optional(),
  command: z.string().optional(),
  aggregated_output: z.string().optional(),
  exit_code: z.number().nullish(),
  changes: z.array(z.looseObject({ path: z.string(), kind: z.string() })).optional(),
  server: z.string().optional(),
  tool: z.string().optional(),
  arguments: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
  query: z.string().optional(),
  status: z.string().optional(),
})
export type CodexItem = z.infer<typeof Item>

const Failure = z.looseObject({ message: z.string() })

const Event = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('thread.started'), thread_id: z.string() }),
  z.looseObject({ type: z.literal('turn.started') }),
  z.looseObject({
    type: z.literal('turn.completed'),
    usage: z.looseObject({ input_tokens: count, cached_input_tokens: count, output_tokens: count }).optional(),
  }),
  z.looseObject({ type: z.literal('turn.failed'), error: Failure }),
  z.looseObject({ type: z.literal('item.started'), item: Item }),
  z.looseObject({ type: z.literal('item.updated'), item: Item }),
  z.looseObject({ type: z.literal('item.completed'), item: Item }),
  z.looseObject({ type: z.literal('error'), message: z.string() }),
])
export type CodexEvent = z.infer<typeof Event>

const Any = z.looseObject({ type: z.string() })
const knownTypes: ReadonlySet<string> = new Set(Event.options.map((option) => option.shape.type.value))

/** Returns an event, `null` for one that nothing here reads, `garbage` for output that is not part of the protocol. */
export function readCodexEvent(json: unknown): CodexEvent | null | 'garbage' {
  const any = Any.safeParse(json)
  if (!any.success) return 'garbage'
  if (!knownTypes.has(any.data.type)) return null
  const known = Event.safeParse(json)
  return known.success ? known.data : 'garbage'
}
