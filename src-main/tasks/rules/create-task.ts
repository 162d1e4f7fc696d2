import type { HeldRules } from '../../domain/access/authority.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'

/** The initial values of a new task unless others are given. */
export const newTaskDefaults = {
  parent_id: null,
  subtask_mode: null,
  description: null,
  roles: {},
  labels: [] as string[],
  priority: 0,
  version: 1,
  entry_barrier: false,
  review_passed_at: null,
  error_annotation: null,
  archived: false,
  active_execution_id: null,
  context_holder: null,
  last_human_action_id: null,
  repository_changes: [],
  run_findings: { notes: [], places: [] },
  review_config_changes: [],
  review_summary: null,
  diff_stat: null,
  limits: null,
  merge: null,
  reverts: null,
  created_under: null,
  held_to: null as HeldRules | null,
  start_when_ready: null,
  stacked_on: null,
} as const

type Stored = Omit<Task, 'ref' | 'dependencies' | 'external_issue_number' | 'external_issue_url' | 'port_base'>
type Own = 'id' | 'project_id' | 'number' | 'repo_id' | 'status' | 'title' | 'review_config' | 'position'
type Choice =
  | 'created_under'
  | 'parent_id'
  | 'subtask_mode'
  | 'description'
  | 'roles'
  | 'labels'
  | 'priority'
  | 'stacked_on'
  | 'reverts'

/** Creates a task for a person, an agent or an import. */
export function createTask(
  facts: Pick<Stored, Own> & Partial<Pick<Stored, Choice>> & { readonly held_to?: HeldRules | null },
  now: string,
) {
  return { ...newTaskDefaults, labels: [], ...facts, created_at: now, updated_at: now }
}
