import { expect, test } from 'vitest'
import { composePrompt, type PromptFacts } from '../../../../src-main/domain/task/prompt.ts'
import { scriptEnvironment } from '../../../../src-main/domain/task/script-environment.ts'

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
}

test('a coder is told the task, then how to work, then what came back', () => {
  const prompt = composePrompt({ ...facts, feedback: 'Too short' })
  const parts = [
    '# Say hello',
    'To everybody.',
    '## How to work',
    'made for this task from trunk',
    '## Feedback',
    'Too short',
  ]
  const places = parts.map((part) => prompt.indexOf(part))
  expect(places).toEqual([...places].sort((a, b) => a - b))
  expect(places[0]).toBe(0)
  expect(composePrompt({ ...facts, description: null })).not.toContain('null')
})

test('a coder that knows the task already is told only what came back', () => {
  const prompt = composePrompt({ ...facts, feedback: 'Too short', resumed: true })
  expect(prompt).toContain('Too short')
  expect(prompt).not.toContain('## How to work')
  expect(composePrompt({ ...facts, resumed: true })).toContain('## How to work')
})

test('whoever judges is told how to, over MCP or REST, and never the old feedback', () => {
  const judge = { ...facts, role: 'reviewer', judges: true, feedback: 'Old words' }
  expect(composePrompt({ ...judge, has_mcp: true })).toContain('svc_submit_verdict')
  expect(composePrompt(judge)).toContain('/api/v1/tasks/$SVC_TASK_ID/verdict')
  expect(composePrompt(judge)).toContain('git diff trunk...HEAD')
  expect(composePrompt(judge)).not.toContain('Old words')
  const asked = composePrompt({ ...judge, review_prompt: 'Look at the names.' })
  expect(asked).toContain('Look at the names.')
  expect(asked).not.toContain('git diff')
})

test('a script learns every variable, empty where there is nothing, and no NUL', () => {
  const task = { id: 't', title: 'A\0B', status: 'review' }
  expect(
    scriptEnvironment({
      event: 'ci',
      task,
      previous_status: 'in_progress',
      project: { id: 'p', name: 'P' },
      repo_path: '/r',
      worktree_path: '/w',
      port_base: 20_010,
      agent_id: null,
      execution_id: 'e',
    }),
  ).toEqual({
    SVC_EVENT: 'ci',
    SVC_TASK_ID: 't',
    SVC_TASK_TITLE: 'AB',
    SVC_TASK_STATUS: 'review',
    SVC_TASK_PREVIOUS_STATUS: 'in_progress',
    SVC_PROJECT_ID: 'p',
    SVC_PROJECT_NAME: 'P',
    SVC_REPO_PATH: '/r',
    SVC_WORKTREE_PATH: '/w',
    SVC_PORT_BASE: '20010',
    SVC_AGENT_ID: '',
    SVC_EXECUTION_ID: 'e',
  })
})
