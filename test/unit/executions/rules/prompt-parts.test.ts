import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  composeParts,
  isForKnownTask,
  promptText,
  type PromptFacts,
} from '../../../../src-main/executions/rules/prompt-parts.ts'
import { promptPlaceholders, unknownPlaceholder } from '../../../../src-shared/contract/prompts.ts'
import type { StepResult } from '../../../../src-shared/contract/reviews.ts'

const facts: PromptFacts = {
  role: 'coder',
  title: 'Say hello',
  description: 'To everybody.',
  base_branch: 'trunk',
  feedback: null,
  resumed: false,
  judges: false,
  review_prompt: null,
  has_mcp: false,
  tells_chapters: false,
  template: null,
  context: null,
  comments: null,
  attachments: null,
  knowledge: null,
  review: null,
}
const step = (command: string, exit_code: number | null): StepResult => ({
  command,
  exit_code,
  duration_ms: 1,
  output_tail: '',
  log_name: 'ci-1-1.log',
})
const told = (more: Partial<PromptFacts>) => promptText(composeParts({ ...facts, ...more }))
const kinds = (more: Partial<PromptFacts>) => composeParts({ ...facts, ...more }).map(({ kind }) => kind)
const judge = { role: 'reviewer', judges: true, feedback: 'Old words' }
const review = (patch: string, ci: readonly StepResult[] = []) => ({ patch, ci })
/** A review prompt without the built-in parts. */
const asked = (review_prompt: string, patch: string, ci: readonly StepResult[] = []) =>
  told({
    ...judge,
    template: '{{task}}\n--\n{{review_prompt}}\n--\n{{verdict}}',
    review_prompt,
    review: review(patch, ci),
  }).split('\n--\n')[1] ?? ''

test('gives a coder the task, instructions, context, feedback and knowledge, in this order', () => {
  const all = { context: 'A part', comments: 'Mind the gap', feedback: 'Too short', knowledge: 'Port 5499.' }
  expect(kinds(all)).toEqual(['task', 'template', 'context', 'comments', 'feedback', 'knowledge'])
  expect(told(all)).toMatch(
    /^# Say hello\n\nTo everybody\.\n\n## How to work\n\n[^]*made for this task from trunk[^]*\n\n## Where this belongs\n\nA part\n\n## Comments on the task\n\nMind the gap\n\n## Feedback from the last review\n\nToo short\n\n## What is known about this project\n\nPort 5499\.$/,
  )
  expect(told({ description: null })).toMatch(/^# Say hello\n\n## How to work/)
})

test('asks for chapters whoever is to tell them, also after a rejection, and with the tools that they have', () => {
  const asked = { tells_chapters: true }
  expect(kinds(asked)).toEqual(['task', 'template', 'chapters'])
  expect(told(asked)).toContain('After your last change')
  expect(told(asked)).toContain('POST')
  expect(kinds({ ...asked, resumed: true, feedback: 'Too short' })).toEqual(['template', 'feedback', 'chapters'])
  const judging = { ...judge, ...asked, has_mcp: true, review: review('+a') }
  expect(kinds(judging)).toContain('chapters')
  expect(told(judging)).toContain('Before you give your verdict')
  expect(told(judging)).toContain('svc_propose_chapters')
  expect(kinds({ ...asked, template: 'First.\n\n{{chapters}}\n\nLast.' })).toEqual([
    'task',
    'template',
    'chapters',
    'template',
  ])
})

test('gives a coder that knows the task only the feedback', () => {
  expect(kinds({ feedback: 'Too short', resumed: true })).toEqual(['template', 'feedback'])
  expect(told({ feedback: 'Too short', resumed: true, template: 'Be brief.' })).not.toContain('Be brief.')
  expect(told({ resumed: true })).toContain('## How to work')
  expect(isForKnownTask(composeParts({ ...facts, feedback: 'Too short', resumed: true }))).toBe(true)
  expect(isForKnownTask([{ kind: 'feedback', text: 'A message in its session' }])).toBe(true)
  expect(isForKnownTask(composeParts({ ...facts, feedback: 'Too short', template: 'Be brief.' }))).toBe(false)
  expect(isForKnownTask([{ kind: 'given', text: 'Of the time before parts' }])).toBe(false)
})

test('tells a reviewer how to judge, over MCP or REST, without old feedback', () => {
  expect(told({ ...judge, has_mcp: true })).toContain('svc_submit_verdict')
  expect(told(judge)).toContain('/api/v1/tasks/$SVC_TASK_ID/verdict')
  expect(told(judge)).toContain('git diff trunk...HEAD')
  expect(told(judge)).not.toContain('Old words')
  const own = told({ ...judge, review_prompt: 'Look at the names.' })
  expect(own).toContain('## Your part: reviewer\n\nLook at the names.\n\nGive your verdict')
  expect(own).not.toContain('git diff')
})

test('shows a reviewer the checks, then the change, at the end', () => {
  const ci = [step('make', 0), step('make test', 2), step('make lint', null)]
  expect(told({ ...judge, review: review('+a\n', ci) })).toMatch(
    /SVC_API_TOKEN\.\n\n## The checks\n\n- `make`: passed\n- `make test`: exit code 2\n- `make lint`: exit code none\n\n## The change\n\n```diff\n\+a\n```$/,
  )
  expect(told({ ...judge, review: review('') })).toMatch(
    /No checks are configured\.[^]*Nothing has changed on this branch\.$/,
  )
})

test('fills each placeholder of a review prompt wherever it stands, and keeps other braces', () => {
  expect(asked('{{ci}} | {{ci}}', '+a\n', [step('make', 0)])).toBe('- `make`: passed | - `make`: passed')
  expect(asked('See {{diff}} {{ item }} {{knowledge}}', '+a\n')).toBe('See ```diff\n+a\n``` {{ item }} {{knowledge}}')
  expect(asked('{{title}}: {{description}} on {{base_branch}}', '')).toBe('Say hello: To everybody. on trunk')
})

test('fills no placeholder within a change', () => {
  const patch = "+{{ci}} $& $` $' $1\n"
  expect(asked('{{diff}}{{ci}}', patch)).toBe("```diff\n+{{ci}} $& $` $' $1\n```No checks are configured.")
})

test('uses a fence longer than any in the change', () => {
  expect(asked('{{diff}}{{ci}}', '+```\n+`````ts\n')).toMatch(/^``````diff\n[^]*\n``````No checks/)
})

test('cuts a change beyond the budget after a whole line, and says so', () => {
  const line = `+${'x'.repeat(98)}\n`
  const whole = asked('{{diff}}', line.repeat(600))
  expect(whole).not.toContain('first part')
  expect(whole.match(/\+x{98}\n/g)).toHaveLength(600)
  const cut = asked('{{diff}}', line.repeat(601))
  expect(cut.length).toBeLessThan(60_300)
  expect(cut).toMatch(/\n\+x{98}\n```\n\nThat is the first part of 60100 characters; read the rest with git diff\.$/)
})

test('cuts one line that is longer than the budget', () => {
  const cut = asked('{{diff}}', `+${'x'.repeat(200_000)}\n`)
  expect(cut.length).toBeLessThan(60_300)
  expect(cut).toMatch(/\n\+x+\n```\n\nThat is the first part of 200002 characters/)
})

test('puts a project’s template in the place of ours', () => {
  const template = 'Work as {{role}} on {{ base_branch }}.'
  expect(told({ template, knowledge: 'Port 5499.' })).toBe(
    '# Say hello\n\nTo everybody.\n\nWork as coder on trunk.\n\n## What is known about this project\n\nPort 5499.',
  )
})

test('places parts only where the template names them, and leaves no gap for empty ones', () => {
  const template = '{{knowledge}}\n\n{{feedback}}\n\nNow:\n\n{{task}}\n\n{{comments}}\n\nGo.'
  expect(told({ template })).toBe('Now:\n\n# Say hello\n\nTo everybody.\n\nGo.')
  expect(told({ template, knowledge: 'Port 5499.', comments: 'Hm.' })).toBe(
    'Port 5499.\n\nNow:\n\n# Say hello\n\nTo everybody.\n\nHm.\n\nGo.',
  )
  expect(kinds({ template, knowledge: 'K', comments: 'C', feedback: 'F' })).toEqual([
    'knowledge',
    'template',
    'feedback',
    'template',
    'task',
    'template',
    'comments',
    'template',
  ])
})

test('keeps escaped braces, and finds names that stand for nothing', () => {
  expect(told({ template: 'Keep \\{{title}} and {title}.' })).toContain('Keep {{title}} and {title}.')
  expect(unknownPlaceholder('{{title}} {{Title}}')).toBe('Title')
  expect(unknownPlaceholder('\\{{who}} {{ title }}')).toBeNull()
})

/** Text with many lookalikes of placeholders. */
const tricky = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.constantFrom(...Object.keys(promptPlaceholders).map((name) => `{{${name}}}`), '{{', '}}', '\\', '\n\n', '$&'),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => pieces.join(''))
const templates = fc
  .array(
    fc.oneof(
      fc.constantFrom(...Object.keys(promptPlaceholders).map((name) => `{{${name}}}`)),
      fc.constantFrom(' A ', '\n\n', '. '),
    ),
    {
      minLength: 1,
      maxLength: 10,
    },
  )
  .map((pieces) => pieces.join(''))
const anyFacts = fc.record({
  title: tricky,
  description: fc.option(tricky),
  feedback: fc.option(tricky),
  context: fc.option(tricky),
  comments: fc.option(tricky),
  knowledge: fc.option(tricky),
  template: fc.option(templates),
  judges: fc.boolean(),
  resumed: fc.boolean(),
  has_mcp: fc.boolean(),
  tells_chapters: fc.boolean(),
})

test('keeps a task’s text unchanged, and fills no placeholder in it', () => {
  // Marks surround each text, so that what stands between can be compared exactly.
  const marked = (name: string, text: string | null) => (text === null ? null : `<${name}>${text}</${name}>`)
  fc.assert(
    fc.property(anyFacts, (given) => {
      const more = {
        ...given,
        description: marked('d', given.description),
        feedback: marked('f', given.feedback),
        context: marked('c', given.context),
        comments: marked('m', given.comments),
        knowledge: marked('k', given.knowledge),
      }
      const parts = composeParts({ ...facts, ...more })
      const prompt = promptText(parts)
      const isShort = given.resumed && given.feedback !== null && !given.judges
      for (const text of isShort ? [more.feedback] : [more.description, more.context, more.comments, more.knowledge]) {
        if (text !== null) expect(prompt).toContain(text)
      }
      // No text appears in another part.
      for (const [text, kind] of [
        [more.context, 'context'],
        [more.knowledge, 'knowledge'],
      ] as const) {
        const elsewhere = parts.filter((part) => part.kind !== kind).map((part) => part.text)
        if (text !== null) expect(elsewhere.some((one) => one.includes(text))).toBe(false)
      }
    }),
  )
})
