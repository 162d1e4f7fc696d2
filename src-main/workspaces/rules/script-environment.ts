/** The facts that a script gets as variables. */
export interface ScriptFacts {
  readonly event: string
  readonly task: { readonly id: string; readonly title: string; readonly status: string }
  readonly previous_status: string
  readonly project: { readonly id: string; readonly name: string }
  readonly repo_path: string
  /** Empty when there is no worktree. */
  readonly worktree_path: string
  /** The first port of the worktree's range; null when it has none. */
  readonly port_base: number | null
  readonly agent_id: string | null
  readonly execution_id: string | null
}

/** Returns the `SVC_` variables of hooks, CI steps and agents; missing values are empty. */
export function scriptEnvironment(facts: ScriptFacts): Record<string, string> {
  const variables = {
    SVC_EVENT: facts.event,
    SVC_TASK_ID: facts.task.id,
    SVC_TASK_TITLE: facts.task.title,
    SVC_TASK_STATUS: facts.task.status,
    SVC_TASK_PREVIOUS_STATUS: facts.previous_status,
    SVC_PROJECT_ID: facts.project.id,
    SVC_PROJECT_NAME: facts.project.name,
    SVC_REPO_PATH: facts.repo_path,
    SVC_WORKTREE_PATH: facts.worktree_path,
    SVC_PORT_BASE: String(facts.port_base ?? ''),
    SVC_AGENT_ID: facts.agent_id ?? '',
    SVC_EXECUTION_ID: facts.execution_id ?? '',
  }
  // Environment variables can't contain a NUL, but a title may.
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value.replaceAll('\0', '')]))
}
