import { expect, test } from 'vitest'
import { describeTool } from '../../../../src-main/agents/claude-code/describe-tool.ts'

const cwd = '/projects/example'

test.each<[string, unknown, string, string | null]>([
  ['Read', { file_path: '/projects/example/src/a.ts' }, 'read', 'src/a.ts'],
  ['Read', { file_path: '/etc/hosts' }, 'read', '/etc/hosts'],
  ['Read', { file_path: '/projects/example-two/a.ts' }, 'read', '/projects/example-two/a.ts'],
  ['Read', { file_path: '/projects/example/..data' }, 'read', '..data'],
  ['Glob', { pattern: '**/*.ts', path: '/projects/example/src' }, 'search', '**/*.ts'],
  ['LS', { path: '/projects/example/src' }, 'search', 'src'],
  ['Bash', { command: 'npm test \\\n  --silent', description: 'Run the tests' }, 'run', 'npm test \\ --silent'],
  ['WebFetch', { url: 'https://example.test/', prompt: 'Sum it up' }, 'fetch', 'https://example.test/'],
  ['WebSearch', { query: 'node 24' }, 'fetch', 'node 24'],
  ['Task', { description: 'Look around', prompt: 'Long …' }, 'other', 'Look around'],
  ['mcp__svc__svc_create_task', { priority: 1, title: 'A task' }, 'mcp', 'A task'],
  ['mcp__svc__svc_get_task_diff', {}, 'mcp', null],
  ['constructor', { file_path: 7 }, 'other', null],
  ['Bash', null, 'run', null],
])('shows %s %o in one line', (tool, input, action, target) => {
  expect(describeTool(tool, input, cwd)).toEqual({ action, target, diff: null })
})

test('cuts a long target', () => {
  expect(describeTool('Bash', { command: 'x '.repeat(1_000_000) }, cwd).target).toHaveLength(200)
})

test('joins several edits of one file to one diff, and none if one is broken', () => {
  const edit = (old_string: unknown, new_string: string) => ({ old_string, new_string })
  const input = { file_path: `${cwd}/a.ts`, edits: [edit('a', 'b'), edit('c', 'd')] }
  expect(describeTool('MultiEdit', input, cwd).diff).toEqual({ path: 'a.ts', old_text: 'a\nc', new_text: 'b\nd' })
  expect(describeTool('MultiEdit', { ...input, edits: [edit('a', 'b'), edit(1, 'd')] }, cwd).diff).toBeNull()
  expect(describeTool('NotebookEdit', { notebook_path: 'n.ipynb', new_source: 'x' }, cwd)).toEqual({
    action: 'edit',
    target: 'n.ipynb',
    diff: { path: 'n.ipynb', old_text: null, new_text: 'x' },
  })
})
