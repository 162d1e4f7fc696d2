import {
  readTemplate,
  defaultPromptTemplates,
  type PromptPart,
  type PromptPartKind,
  type PromptPlaceholder,
} from '../../../src-shared/contract/prompts.ts'
import type { StepResult } from '../../../src-shared/contract/reviews.ts'
import { knowledgeTitle, firstCharacters } from './knowledge-text.ts'

/** In characters; the agent can read the rest of the diff itself. */
const maxPatch = 60_000

/** Returns the diff for the prompt of a reviewer. */
function changeText(patch: string): string {
  if (patch === '') return 'Nothing has changed on this branch.'
  const cut = patch.length > maxPatch
  const shown = cut ? firstLines(patch, maxPatch) : patch
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`{3,}/g)].map(([run]) => run.length + 1)))
  const more = cut ? `\n\nThat is the first part of ${patch.length} characters; read the rest with git diff.` : ''
  return `${fence}diff\n${shown.trimEnd()}\n${fence}${more}`
}

/** Returns the results of the checks for the prompt. */
function checksText(steps: readonly StepResult[]): string {
  if (steps.length === 0) return 'No checks are configured.'
  return steps
    .map(
      (step) => `- \`${step.command}\`: ${step.exit_code === 0 ? 'passed' : `exit code ${step.exit_code ?? 'none'}`}`,
    )
    .join('\n')
}

/** Cuts at whole lines; but a line that is itself most of the text, as in a minified file, is cut inside. */
function firstLines(text: string, length: number): string {
  const end = text.lastIndexOf('\n', length - 1) + 1
  return end > length / 2 ? text.slice(0, end) : firstCharacters(text, length)
}

/** The facts from which a prompt is composed. */
export interface PromptFacts {
  readonly role: string
  readonly title: string
  readonly description: string | null
  readonly base_branch: string
  /** The feedback of the newest rejection, when the task came back. */
  readonly feedback: string | null
  /** The agent continues a session that knows the task. */
  readonly resumed: boolean
  /** The role works at a gate, so it reviews instead of coding. */
  readonly judges: boolean
  readonly review_prompt: string | null
  readonly has_mcp: boolean
  /** The project asks this role to divide the change into chapters. */
  readonly tells_chapters: boolean
  /** The project's template for the role; null for the built-in one. */
  readonly template: string | null
  /** The tasks around this one. */
  readonly context: string | null
  readonly comments: string | null
  /** The files of the task. */
  readonly attachments: string | null
  /** The project's knowledge that matches the task. */
  readonly knowledge: string | null
  /** For a role that judges a review, at its start. */
  readonly review: { readonly patch: string; readonly ci: readonly StepResult[] } | null
}

type Values = { readonly [N in PromptPlaceholder]: string }

/** Placeholders that are prompt parts; the others are text inside the part that names them. */
const blocks: { readonly [N in PromptPlaceholder]?: PromptPartKind } = {
  task: 'task',
  description: 'task',
  review_prompt: 'review_prompt',
  verdict: 'verdict',
  chapters: 'chapters',
  context: 'context',
  comments: 'comments',
  attachments: 'attachments',
  feedback: 'feedback',
  ci: 'checks',
  diff: 'change',
  knowledge: 'knowledge',
}

/** Parts that a template does not place are appended in this order under these headings. */
const followers: readonly { readonly name: PromptPlaceholder; readonly heading: string | null }[] = [
  { name: 'review_prompt', heading: null },
  { name: 'verdict', heading: null },
  { name: 'chapters', heading: null },
  { name: 'context', heading: 'Where this belongs' },
  { name: 'comments', heading: 'Comments on the task' },
  { name: 'attachments', heading: 'Files of the task' },
  { name: 'feedback', heading: 'Feedback from the last review' },
  { name: 'ci', heading: 'The checks' },
  { name: 'diff', heading: 'The change' },
  { name: 'knowledge', heading: 'What is known about this project' },
]

/** The placeholders of a task's review prompt; other double braces in it stay as text. */
const inReviewPrompt: ReadonlySet<string> = new Set(['title', 'description', 'base_branch', 'diff', 'ci'])

/**
 * Composes the parts of a prompt; concatenated they are the prompt. Text from a task is data: placeholders in it are
 * not filled.
 */
export function composeParts(facts: PromptFacts): PromptPart[] {
  if (facts.resumed && facts.feedback !== null && !facts.judges) {
    const text = `The work on “${facts.title}” came back from review. Address this, then finish as before:\n\n`
    const chapters = facts.tells_chapters ? `\n\n${chaptersText(facts)}` : ''
    return [
      { kind: 'template', text },
      { kind: 'feedback', text: facts.feedback },
      ...(chapters === '' ? [] : [{ kind: 'chapters' as const, text: chapters }]),
    ]
  }
  const values = valuesOf(facts)
  const template = facts.template ?? (facts.judges ? defaultPromptTemplates.judges : defaultPromptTemplates.works)
  const { parts, placed } = fill(template, 'template', values)
  const before: PromptPart[] = placed.has('task') ? [] : [{ kind: 'task', text: `${values.task}\n\n` }]
  return [...before, ...withFollowers(parts, placed, values, facts)]
}

/** Returns whether a prompt is for an agent that already knows the task. */
export function isForKnownTask(parts: readonly PromptPart[]): boolean {
  return !parts.some(({ kind }) => kind === 'task' || kind === 'given')
}

/** Returns the whole prompt. */
export function promptText(parts: readonly PromptPart[]): string {
  return parts.map(({ text }) => text).join('')
}

function valuesOf(facts: PromptFacts): Values {
  const { title, description, base_branch, role, review, judges } = facts
  return {
    title,
    description: description ?? '',
    task: description ? `# ${title}\n\n${description}` : `# ${title}`,
    role,
    base_branch,
    review_prompt: facts.review_prompt ?? (judges ? judgeTemplate : ''),
    verdict: judges ? verdictText(facts.has_mcp) : '',
    chapters: facts.tells_chapters ? chaptersText(facts) : '',
    context: facts.context ?? '',
    comments: facts.comments ?? '',
    attachments: facts.attachments ?? '',
    feedback: judges ? '' : (facts.feedback ?? ''),
    ci: review ? checksText(review.ci) : '',
    diff: review ? changeText(review.patch) : '',
    knowledge: (facts.knowledge ?? '').replace(knowledgeTitle, ''),
  }
}

interface Filled {
  readonly parts: PromptPart[]
  /** The parts that are already placed. */
  readonly placed: Set<PromptPartKind>
}

/** Fills in a template. Around an empty value, the blank lines collapse to one break. */
function fill(template: string, kind: 'template' | 'review_prompt', values: Values): Filled {
  const parts: PromptPart[] = []
  const placed = new Set<PromptPartKind>()
  let closes = false
  const add = (part: PromptPart): void => {
    const text = closes ? part.text.replace(/^\s+/, '') : part.text
    if (text === '') return
    closes = false
    const last = parts.at(-1)
    if (last?.kind === part.kind) parts.splice(-1, 1, { kind: part.kind, text: last.text + text })
    else parts.push({ kind: part.kind, text })
  }
  for (const piece of readTemplate(template)) {
    if ('text' in piece) {
      add({ kind, text: piece.text })
      continue
    }
    if (!isKnown(piece.name, kind)) {
      add({ kind, text: piece.raw })
      continue
    }
    const value = values[piece.name]
    const block = blocks[piece.name]
    if (block !== undefined) placed.add(block)
    const isReview = piece.name === 'review_prompt' && kind === 'template'
    const inner = isReview ? fill(value, 'review_prompt', values) : null
    for (const one of inner?.placed ?? []) if (one !== 'task') placed.add(one)
    if (value === '') closes = parts.length === 0 || /\n\s*$/.test(parts.at(-1)?.text ?? '')
    else for (const part of inner?.parts ?? [{ kind: block ?? kind, text: value }]) add(part)
  }
  return { parts, placed }
}

function isKnown(name: string, kind: 'template' | 'review_prompt'): name is PromptPlaceholder {
  return kind === 'template' || inReviewPrompt.has(name)
}

function withFollowers(
  parts: readonly PromptPart[],
  placed: Set<PromptPartKind>,
  values: Values,
  facts: PromptFacts,
): PromptPart[] {
  const all = [...parts]
  for (const { name, heading } of followers) {
    const kind = blocks[name]
    // The stand-in for a missing review prompt is not part of a template without that placeholder.
    const isStandIn = name === 'review_prompt' && facts.review_prompt === null
    if (kind === undefined || placed.has(kind) || values[name] === '' || isStandIn) continue
    const filled = name === 'review_prompt' ? fill(values[name], 'review_prompt', values) : null
    for (const one of filled?.placed ?? []) if (one !== 'task') placed.add(one)
    const last = all.pop()
    if (last) all.push({ kind: last.kind, text: `${last.text.trimEnd()}\n\n` })
    const text = heading === null ? values[name] : `## ${heading}\n\n${values[name]}`
    all.push(...(filled?.parts ?? [{ kind, text }]))
  }
  return all
}

/** For a task without its own review prompt. */
const judgeTemplate =
  'Judge the work on this branch against the task. Look at what changed since {{base_branch}} (git diff {{base_branch}}...HEAD and the working tree). Change nothing yourself.'

function verdictText(has_mcp: boolean): string {
  return has_mcp
    ? 'Give your verdict with the tool svc_submit_verdict: pass, or fail with feedback that the author can act on.'
    : 'Give your verdict over the API at $SVC_API_URL: POST /api/v1/tasks/$SVC_TASK_ID/verdict with the token in $SVC_API_TOKEN.'
}

/** Chapters are for one tree, so the author is asked for them after the last change. */
function chaptersText({ judges, has_mcp }: Pick<PromptFacts, 'judges' | 'has_mcp'>): string {
  const when = judges ? 'Before you give your verdict' : 'After your last change, before you end'
  const how = has_mcp
    ? 'Read the hunks with svc_get_task_chapters and send the chapters with svc_propose_chapters.'
    : 'Over the API, GET /api/v1/tasks/$SVC_TASK_ID/chapters has the hunks; POST the chapters there as {tree, chapters: [{title, why, hunks}]}.'
  return (
    `${when}, divide the change of the whole branch into chapters for the people who review it: what belongs ` +
    `together, in the order to read it, each with a short title and what to know first. ${how} Each hunk belongs to exactly one chapter.`
  )
}
