import type { Comment } from '../../../src-shared/contract/comments.ts'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import type { Review } from '../../../src-shared/contract/reviews.ts'
import type { GlyphName } from '../../components/state-glyphs.ts'
import type { Face } from '../../stores/people/people.ts'
import { askedConflicts } from '../../formatters/conflict-request.ts'
import { count, formatCost, formatSpan, formatUsedTokens } from '../../formatters/format-amounts.ts'
import type { ActivityItem } from './activity-item.ts'
import { hookLine } from './hook-line.ts'
import { failedStep } from './review-items.ts'
import { excerpt, firstMeaningfulLine } from './first-meaningful-line.ts'

/** A part of a line. Spaces are part of the text. */
export type TextSegment =
  | { readonly as: 'plain' | 'strong' | 'code' | 'quiet'; readonly text: string }
  | { readonly as: 'state'; readonly text: string; readonly glyph: GlyphName }
  | { readonly as: 'link'; readonly text: string; readonly href: string }

/** The target of an entry's link: a tab, and there the log of a hook or the run of an agent. */
export interface LinkTarget {
  readonly label: string
  readonly tab: 'overview' | 'agent' | 'changes' | 'review' | 'hooks'
  readonly log?: string
  readonly execution?: string
}

/** A formatted timeline entry. Lines with a tone stand out. */
export interface ActivityLine {
  readonly tone: 'error' | 'warning' | null
  readonly icon:
    | { readonly face: Face }
    | { readonly glyph: GlyphName }
    | { readonly name: 'move' | 'back' | 'branch' | 'new' }
  readonly title: readonly TextSegment[]
  readonly body: readonly TextSegment[]
  readonly link: LinkTarget | null
}

/** The lookups of names that lines mention. */
export interface Names {
  actor(by: string): Face
  worker(execution: Execution): Face
  author(comment: Comment): Face
  state(name: string): { readonly label: string; readonly glyph: GlyphName }
  /** Returns the count of rejections up to this one and the maximum; null if they aren't counted. */
  rejections(transitionId: string): { readonly used: number; readonly max: number } | null
}

const plain = (text: string): TextSegment => ({ as: 'plain', text })
const strong = (text: string): TextSegment => ({ as: 'strong', text })
const code = (text: string): TextSegment => ({ as: 'code', text })
const quiet = (text: string): TextSegment => ({ as: 'quiet', text })
const quote = (text: string | null): TextSegment[] => (text?.trim() ? [plain(`“${excerpt(text)}”`)] : [])
const noDetails = { tone: null, body: [], link: null } as const

/** Formats a timeline entry. */
export function activityLine(item: ActivityItem, names: Names): ActivityLine {
  switch (item.kind) {
    case 'created': {
      const { external_issue_number: issue, external_issue_url: href } = item.task
      const linked: TextSegment[] =
        href === null ? [] : [plain(', issue '), { as: 'link', text: `#${issue ?? ''}`, href }]
      return { ...noDetails, icon: { name: 'new' }, title: [plain('Task created'), ...linked] }
    }
    case 'worktree': {
      const { base_branch, base_commit } = item.workspace
      const commit = base_commit === null ? [] : [plain(' at '), code(base_commit.slice(0, 8))]
      return {
        ...noDetails,
        icon: { name: 'branch' },
        title: [plain('Worktree created from '), code(base_branch), ...commit],
      }
    }
    case 'transition':
      return moveLine(item, names)
    case 'hook': {
      const { tone, glyph, name, words, after, body } = hookLine(item, (by) => names.actor(by).name)
      return {
        tone,
        icon: { glyph },
        title: [
          strong(item.hook.phase),
          plain(' '),
          code(name),
          plain(` ${words}`),
          ...(after === null ? [] : [quiet(` after ${after}`)]),
        ],
        body: body === null ? [] : [plain(body)],
        link: item.run && { label: 'Open log', tab: 'hooks', log: item.run.log_name },
      }
    }
    case 'execution':
      return executionLine(item, names)
    case 'ci':
      return ciLine(item.review)
    case 'verdict': {
      const { by, verdict, feedback } = item.verdict
      const face = names.actor(by)
      const judged = `${verdict === 'pass' ? 'passed' : 'rejected'} attempt ${item.review.attempt_number}`
      const conflicts = askedConflicts(feedback)
      const asked = conflicts && `asked the agent to resolve ${conflicts}`
      return {
        tone: null,
        icon: { face },
        title: [strong(face.name), plain(` ${asked ?? judged}`)],
        body: asked === null ? quote(feedback) : [],
        link: { label: 'Review', tab: 'review' },
      }
    }
    case 'comment':
      return commentLine(item.comment, names)
  }
}

function moveLine({ entry, attempt }: Extract<ActivityItem, { kind: 'transition' }>, names: Names): ActivityLine {
  const step = attempt && failedStep(attempt)
  const budget = entry.rejection ? names.rejections(entry.id) : null
  const state = (name: string): TextSegment => ({
    as: 'state',
    text: names.state(name).label,
    glyph: names.state(name).glyph,
  })
  const by = step ? 'CI' : names.actor(entry.triggered_by).name
  const why = step && firstMeaningfulLine(step.output_tail)
  const stopped = step?.exit_code === 124 ? ' timed out' : ` exited ${step?.exit_code ?? ''}`
  const reason = entry.trigger_reason
  const conflicts = askedConflicts(reason)
  return {
    tone: null,
    icon: { name: entry.rejection ? 'back' : 'move' },
    title: [
      state(entry.from_state),
      quiet(' → '),
      state(entry.to_state),
      plain(entry.rejection && conflicts === null ? ' rejected by ' : ' by '),
      strong(by),
      ...(budget ? [plain(`, ${budget.used} of ${budget.max}`)] : []),
    ],
    body: step
      ? [code(step.command), plain(why ? `${stopped}: ${why}` : stopped)]
      : conflicts !== null
        ? [plain(`To resolve ${conflicts}`)]
        : entry.rejection
          ? quote(reason)
          : reason
            ? [plain(excerpt(reason))]
            : [],
    link: attempt && { label: 'Review', tab: 'review' },
  }
}

const statusTexts = {
  queued: 'queued',
  running: 'works on',
  succeeded: 'finished',
  failed: 'failed in',
  cancelled: 'was cancelled in',
  stopped: 'was stopped in',
  lost: 'was lost in',
} as const satisfies Record<Execution['status'], string>

function executionLine({ execution, n }: Extract<ActivityItem, { kind: 'execution' }>, names: Names): ActivityLine {
  const { status, usage, error, started_at, finished_at } = execution
  const face = names.worker(execution)
  const took = started_at && finished_at ? Date.parse(finished_at) - Date.parse(started_at) : null
  const used = usage ? `${formatUsedTokens(usage)}, ${formatCost(usage.cost_usd)}` : ''
  const hasFailed = status === 'failed' || status === 'lost'
  return {
    tone: null,
    icon: hasFailed ? { glyph: 'failed' } : status === 'running' ? { glyph: 'running' } : { face },
    title: [
      strong(face.name),
      plain(` ${statusTexts[status]} run ${n}`),
      ...(took === null ? [] : [plain(`${status === 'succeeded' ? ' in' : ' after'} ${formatSpan(took)}`)]),
    ],
    body: hasFailed && error ? [plain(excerpt(error))] : used ? [plain(used)] : [],
    link: execution.executor === 'person' ? null : { label: 'Transcript', tab: 'agent', execution: execution.id },
  }
}

function ciLine(review: Review): ActivityLine {
  const step = failedStep(review)
  const passed = review.step_results.filter(({ exit_code }) => exit_code === 0).length
  const all = review.ci_steps.length
  const took = review.step_results.reduce((sum, { duration_ms }) => sum + (duration_ms ?? 0), 0)
  const link: LinkTarget = { label: 'Review', tab: 'review' }
  if (step) {
    const why = firstMeaningfulLine(step.output_tail)
    const title = [plain('Check failed: '), code(step.command), plain(`, exit ${step.exit_code ?? ''}`)]
    return { tone: null, icon: { glyph: 'failed' }, title, body: why === null ? [] : [plain(why)], link }
  }
  if (passed === all) {
    const words = `${count(all, 'check')} passed in ${formatSpan(took)}`
    return { ...noDetails, icon: { glyph: 'succeeded' }, title: [plain(words)], link }
  }
  const isRunning = review.status === 'running' || review.status === 'pending'
  const words = `${isRunning ? 'Running checks' : 'Checks cancelled'}, ${passed} of ${all} passed`
  return { ...noDetails, icon: { glyph: isRunning ? 'running' : 'cancelled' }, title: [plain(words)], link }
}

function commentLine(comment: Comment, names: Names): ActivityLine {
  const face = names.author(comment)
  const { anchor, parent_id, body } = comment
  return {
    tone: null,
    icon: { face },
    title: [
      strong(face.name),
      plain(parent_id === null ? ' commented' : ' answered'),
      ...(anchor ? [plain(' on '), code(`${anchor.path}:${anchor.line}`)] : []),
    ],
    body: quote(body),
    link: anchor ? { label: 'Changes', tab: 'changes' } : { label: 'Comments', tab: 'overview' },
  }
}
