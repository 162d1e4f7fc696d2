import { z } from 'zod'
import { AgentId } from './ids.ts'

const promptPartKinds = [
  'task',
  'template',
  'review_prompt',
  'verdict',
  'chapters',
  'context',
  'comments',
  'attachments',
  'feedback',
  'checks',
  'change',
  'knowledge',
  'given',
] as const
/**
 * Source of a prompt's part: the project's template, the task, the task's review prompt, how to give a verdict, how
 * to divide the change into chapters, related tasks, comments, files, feedback of a review, CI, the diff, the project's knowledge; or the claim's own
 * prompt, which replaces all others.
 */
export type PromptPartKind = (typeof promptPartKinds)[number]

export const PromptPart = z.object({ kind: z.enum(promptPartKinds), text: z.string() })
export type PromptPart = z.infer<typeof PromptPart>

/** The end of one part of a stored prompt. */
export interface PromptPartSize {
  readonly kind: PromptPartKind
  readonly characters: number
}

/** An agent's prompt: its parts, concatenated, are the prompt. */
export const Prompt = z
  .object({
    role: z.string(),
    agent_id: AgentId.nullable().describe('Who has the role.'),
    resumed: z.boolean().describe('It continues a session where the agent already knows the task.'),
    parts: z.array(
      PromptPart.extend({
        characters: z.int(),
        tokens: z.int().describe('About as many as this: a quarter of its characters.'),
      }),
    ),
    prompt: z.string().describe('The whole.'),
    characters: z.int(),
    tokens: z.int().describe('About as many as this.'),
  })
  .meta({ id: 'Prompt' })
export type Prompt = z.infer<typeof Prompt>

/** Placeholders that a project's template may use, and what replaces them. */
export const promptPlaceholders = {
  title: 'the task’s title',
  description: 'the task’s description',
  task: 'title and description',
  role: 'the role that works',
  base_branch: 'the branch that the work goes to',
  review_prompt: 'the task’s own review prompt, or the words that stand in for it',
  verdict: 'how to give a verdict; for roles at a gate',
  chapters: 'how to divide the change into chapters; for the role that the project asks',
  context: 'the parent task, and those that this one builds on',
  comments: 'comments on the task that are not resolved',
  attachments: 'the files of the task, and where they are',
  feedback: 'what the work came back for',
  ci: 'what the checks said; for roles that review',
  diff: 'the change; for roles that review',
  knowledge: 'what the project knows that bears on the task',
} as const
export type PromptPlaceholder = keyof typeof promptPlaceholders

/** A backslash before the braces keeps them unchanged. */
const inBraces = /\\?\{\{([^{}\n]*)\}\}/g

/** Text of a template, or a placeholder in braces within it. */
export type TemplatePiece = { readonly text: string } | { readonly name: string; readonly raw: string }

/** Splits a template into pieces. */
export function readTemplate(template: string): TemplatePiece[] {
  const pieces: TemplatePiece[] = []
  let text = ''
  let end = 0
  for (const match of template.matchAll(inBraces)) {
    text += template.slice(end, match.index)
    end = match.index + match[0].length
    if (match[0].startsWith('\\')) {
      text += match[0].slice(1)
      continue
    }
    if (text !== '') pieces.push({ text })
    text = ''
    pieces.push({ name: (match[1] ?? '').trim(), raw: match[0] })
  }
  text += template.slice(end)
  return text === '' ? pieces : [...pieces, { text }]
}

/** Returns a template's first unknown placeholder, or null. */
export function unknownPlaceholder(template: string): string | null {
  const unknown = readTemplate(template).find(
    (piece) => 'name' in piece && !Object.hasOwn(promptPlaceholders, piece.name),
  )
  return unknown !== undefined && 'name' in unknown ? unknown.name : null
}

/** A project's prompt template for a role. */
export const PromptTemplate = z
  .string()
  .trim()
  .min(1)
  .max(20_000)
  .superRefine((template, context) => {
    const unknown = unknownPlaceholder(template)
    if (unknown === null) return
    const known = Object.keys(promptPlaceholders).join(', ')
    context.addIssue({
      code: 'custom',
      message: `{{${unknown}}} isn't a placeholder. Use one of: ${known}; or write \\{{${unknown}}} to keep the braces.`,
    })
  })

/** Templates by role. A role without one uses the built-in template. */
export const PromptTemplates = z.record(z.string().min(1).max(60), PromptTemplate)
export type PromptTemplates = z.infer<typeof PromptTemplates>

/** The built-in templates, for roles without a template of the project. */
export const defaultPromptTemplates = {
  works: [
    '## How to work',
    'You are in a git worktree of your own; its branch was made for this task from {{base_branch}}. Change what the task needs, check your work, and commit it on this branch. Do not push, merge or switch branches.',
    'No one can answer while you work: decide sensibly, and say at the end what you did and what is left open.',
  ].join('\n\n'),
  judges: ['## Your part: {{role}}', '{{review_prompt}}', '{{verdict}}'].join('\n\n'),
} as const
