import { z } from 'zod'
import { UsageReport, type Usage } from '../../../src-shared/contract/executions.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import type { ExecutionOutcome } from '../../ports/executors.ts'
import { createLineFilter, type LineFilter } from '../agent/filter-lines.ts'
import type { AgentRun } from '../definition.ts'

/** A report of a command on its run, in a line of its output. */
const SvcLine = z.strictObject({
  svc: z
    .strictObject({
      usage: UsageReport.optional(),
      session_id: z.string().min(1).max(500).optional(),
      usage_limit: z
        .strictObject({
          account: z.string().trim().min(1).max(100).optional(),
          resets_at: z.iso.datetime({ offset: true }).nullable().optional(),
        })
        .optional(),
    })
    .refine((told) => Object.keys(told).length > 0),
})

/** The reports of a run so far. */
export interface SvcLines {
  /** Takes a line without its end; returns whether it was a report, which is not shown as output. */
  read(line: string): boolean
  result(): Pick<ExecutionOutcome, 'session_id' | 'usage' | 'usage_limit'>
}

const nothing: Usage = { input_tokens: null, output_tokens: null, cost_usd: null }

/** Reads lines like `{"svc":{"usage":{…}}}`. Usage is a total; its increase is written to the transcript. */
export function createSvcLines({ log, onSession }: Pick<AgentRun, 'log' | 'onSession'>): SvcLines {
  let session_id: string | null = null
  let usage: Usage | null = null
  let usage_limit: ExecutionOutcome['usage_limit']

  const addUsage = (report: UsageReport): void => {
    const before = usage ?? nothing
    const grow = (one: number | null, other: number | undefined) =>
      one === null ? (other ?? null) : Math.max(one, other ?? 0)
    const cost = report.cost_usd ?? null
    const turns = Math.max(before.turns ?? 0, report.turns ?? 0)
    const model = report.model ?? before.model
    const after: Usage = {
      input_tokens: grow(before.input_tokens, report.input_tokens),
      output_tokens: grow(before.output_tokens, report.output_tokens),
      cost_usd: cost === null ? before.cost_usd : Math.max(before.cost_usd ?? 0, cost),
      ...(turns > 0 && { turns }),
      ...(model !== undefined && { model }),
    }
    usage = after
    log.entry({
      type: 'usage',
      at: new Date().toISOString(),
      input_tokens: (after.input_tokens ?? 0) - (before.input_tokens ?? 0),
      output_tokens: (after.output_tokens ?? 0) - (before.output_tokens ?? 0),
      cost_usd: cost === null || after.cost_usd === null ? null : after.cost_usd - (before.cost_usd ?? 0),
      ...(turns > (before.turns ?? 0) && { turns: turns - (before.turns ?? 0) }),
      ...(model !== undefined && { model }),
    })
  }
  return {
    read: (line) => {
      const told = SvcLine.safeParse(parseJson(line))
      if (!told.success) {
        const [issue] = told.error.issues
        const place = issue?.path.join('.') || 'the line'
        log.entry({
          type: 'error',
          at: new Date().toISOString(),
          text: `Copse can't read this report, so it doesn't count: ${place}: ${issue?.message ?? 'no JSON'}.`,
        })
        return false
      }
      const { svc } = told.data
      if (svc.session_id !== undefined) {
        session_id = svc.session_id
        onSession?.(session_id)
      }
      if (svc.usage !== undefined) addUsage(svc.usage)
      if (svc.usage_limit !== undefined) {
        const { account, resets_at = null } = svc.usage_limit
        usage_limit = {
          resets_at: resets_at === null ? null : new Date(resets_at).toISOString(),
          ...(account !== undefined && { account }),
        }
      }
      return true
    },
    result: () => ({ session_id, usage, ...(usage_limit && { usage_limit }) }),
  }
}

/** Removes report lines from a byte stream. */
export const createSvcFilter = (lines: Pick<SvcLines, 'read'>): LineFilter => createLineFilter('{"svc":', lines.read)
