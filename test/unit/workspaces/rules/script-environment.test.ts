import { expect, test } from 'vitest'
import { scriptEnvironment } from '../../../../src-main/workspaces/rules/script-environment.ts'

test('names every variable, with an empty value where there is none', () => {
  expect(
    scriptEnvironment({
      event: 'on_work_start',
      task: { id: 't', title: 'A "title"\0 with $HOME', status: 'in_progress' },
      previous_status: 'todo',
      project: { id: 'p', name: 'Project' },
      repo_path: '/repo',
      worktree_path: '',
      port_base: null,
      agent_id: null,
      execution_id: null,
    }),
  ).toEqual({
    SVC_EVENT: 'on_work_start',
    SVC_TASK_ID: 't',
    SVC_TASK_TITLE: 'A "title" with $HOME',
    SVC_TASK_STATUS: 'in_progress',
    SVC_TASK_PREVIOUS_STATUS: 'todo',
    SVC_PROJECT_ID: 'p',
    SVC_PROJECT_NAME: 'Project',
    SVC_REPO_PATH: '/repo',
    SVC_WORKTREE_PATH: '',
    SVC_PORT_BASE: '',
    SVC_AGENT_ID: '',
    SVC_EXECUTION_ID: '',
  })
})
