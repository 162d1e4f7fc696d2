/** What a script learns of the event that runs it. */
export interface ScriptContext {
  readonly event: string
  readonly task_id: string
  readonly task_title: string
  readonly task_status: string
  readonly task_previous_status: string
  readonly project_id: string
  readonly project_name: string
  readonly repo_path: string
  /** null when the worktree is gone. */
  readonly worktree_path: string | null
  readonly agent_id: string | null
  readonly execution_id: string | null
}

/** The `SVC_` variables of scripts and agents; what there is none of is empty. */
export function scriptEnvironment(context: ScriptContext): Record<string, string> {
  const variables = {
    SVC_EVENT: context.event,
    SVC_TASK_ID: context.task_id,
    SVC_TASK_TITLE: context.task_title,
    SVC_TASK_STATUS: context.task_status,
    SVC_TASK_PREVIOUS_STATUS: context.task_previous_status,
    SVC_PROJECT_ID: context.project_id,
    SVC_PROJECT_NAME: context.project_name,
    SVC_REPO_PATH: context.repo_path,
    SVC_WORKTREE_PATH: context.worktree_path ?? '',
    SVC_AGENT_ID: context.agent_id ?? '',
    SVC_EXECUTION_ID: context.execution_id ?? '',
  }
  // A NUL can't stand in an environment; a title may hold one all the same.
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value.replaceAll('\0', '')]))
}
