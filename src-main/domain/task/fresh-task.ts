/** What is the same of every new task: nobody has touched it. */
export const freshTask = {
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
