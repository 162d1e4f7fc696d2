/** What a new task has unless it is given something else: nobody has touched it. */
export const freshTask = {
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
  attended_mark: null,
  review_summary: null,
  diff_stat: null,
} as const
