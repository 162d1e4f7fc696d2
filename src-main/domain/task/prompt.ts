import type { StepResult } from '../../../src-shared/contract/reviews.ts'
import { firstCharacters } from './knowledge-text.ts'

export interface PromptFacts {
  readonly role: string
  readonly title: string
  readonly description: string | null
  readonly base_branch: string
  /** The newest rejection's words, when the work comes back. */
  readonly feedback: string | null
  /** The agent goes on in the session where it knows the task already. */
  readonly resumed: boolean
  /** The role works at a gate: it judges instead of building. */
  readonly judges: boolean
  readonly review_prompt: string | null
  readonly has_mcp: boolean
}

/** What an agent is told, from the general to the particular. */
export function composePrompt(facts: PromptFacts): string {
  if (facts.resumed && facts.feedback !== null && !facts.judges) {
    return `The work on "${facts.title}" came back from review. Address this, then finish as before:\n\n${facts.feedback}`
  }
  const parts = [`# ${facts.title}`]
  if (facts.description) parts.push(facts.description)
  parts.push(facts.judges ? judgePart(facts) : workPart(facts))
  if (facts.feedback !== null && !facts.judges) parts.push(`## Feedback from the last review\n\n${facts.feedback}`)
  return parts.join('\n\n')
}

function workPart(facts: PromptFacts): string {
  return [
    '## How to work',
    `You are in a git worktree of your own; its branch was made for this task from ${facts.base_branch}. Change what the task needs, check your work, and commit it on this branch. Do not push, merge or switch branches.`,
    'Nobody can answer while you work: decide sensibly, and say at the end what you did and what is left open.',
  ].join('\n\n')
}

/** A review prompt is a template: {{title}}, {{description}} and {{base_branch}} stand for the task's. */
function fillTask(template: string, facts: PromptFacts): string {
  const values = { title: facts.title, description: facts.description ?? '', base_branch: facts.base_branch }
  return template.replace(/\{\{(title|description|base_branch)\}\}/g, (_, name: keyof typeof values) => values[name])
}

/** What is known only when the agent starts: the branch as it is then, and the checks that ran on it. */
export interface LatePromptFacts {
  readonly prompt: string
  /** What the project knows that may help; null for nothing, or for a session that has read it. */
  readonly knowledge: string | null
  /** For a role that judges a review; null for all others. */
  readonly review: { readonly patch: string; readonly ci: readonly StepResult[] } | null
}

/** An agent looks at the rest by itself; a prompt of megabytes helps nobody. */
const maxPatch = 60_000

/** Completes a prompt when its agent starts. A review prompt may say where with {{diff}} and {{ci}}. */
export function completePrompt({ prompt, knowledge, review }: LatePromptFacts): string {
  const parts = [review ? withReview(prompt, review) : prompt]
  if (knowledge !== null) parts.push(`## What is known about this project\n\n${knowledge}`)
  return parts.join('\n\n')
}

function withReview(prompt: string, review: NonNullable<LatePromptFacts['review']>): string {
  const parts = { diff: diffPart(review.patch), ci: ciPart(review.ci) }
  // A function, because a diff may hold what a replacement string gives a meaning to.
  const filled = prompt.replace(/\{\{(diff|ci)\}\}/g, (_, name: keyof typeof parts) => parts[name])
  const rest = [
    ...(prompt.includes('{{ci}}') ? [] : [`## The checks\n\n${parts.ci}`]),
    ...(prompt.includes('{{diff}}') ? [] : [`## The change\n\n${parts.diff}`]),
  ]
  return [filled, ...rest].join('\n\n')
}

function diffPart(patch: string): string {
  if (patch === '') return 'Nothing has changed on this branch.'
  const cut = patch.length > maxPatch
  const shown = cut ? firstLines(patch, maxPatch) : patch
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`{3,}/g)].map(([run]) => run.length + 1)))
  const more = cut ? `\n\nThat is the first part of ${patch.length} characters; read the rest with git diff.` : ''
  return `${fence}diff\n${shown.trimEnd()}\n${fence}${more}`
}

/** Whole lines; but of a line that is itself most of the text, as in a minified file, what fits. */
function firstLines(text: string, length: number): string {
  const end = text.lastIndexOf('\n', length - 1) + 1
  return end > length / 2 ? text.slice(0, end) : firstCharacters(text, length)
}

function ciPart(steps: readonly StepResult[]): string {
  if (steps.length === 0) return 'No checks are configured.'
  return steps
    .map(
      (step) => `- \`${step.command}\`: ${step.exit_code === 0 ? 'passed' : `exit code ${step.exit_code ?? 'none'}`}`,
    )
    .join('\n')
}

function judgePart(facts: PromptFacts): string {
  const how = facts.has_mcp
    ? 'Give your verdict with the tool svc_submit_verdict: pass, or fail with feedback that the author can act on.'
    : 'Give your verdict over the API at $SVC_API_URL: POST /api/v1/tasks/$SVC_TASK_ID/verdict with the token in $SVC_API_TOKEN.'
  return [
    `## Your part: ${facts.role}`,
    (facts.review_prompt && fillTask(facts.review_prompt, facts)) ??
      `Judge the work on this branch against the task. Look at what changed since ${facts.base_branch} (git diff ${facts.base_branch}...HEAD and the working tree). Change nothing yourself.`,
    how,
  ].join('\n\n')
}
