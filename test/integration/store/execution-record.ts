import { v7 } from 'uuid'
import type { ExecutionRecord } from '../../../src-main/ports/execution-queries.ts'
import { at, type OpenStore } from './open-store.ts'

/** An execution of a task that was never started. */
export function executionRecord(
  open: OpenStore,
  task_id: ExecutionRecord['task_id'],
  status: ExecutionRecord['status'],
): ExecutionRecord {
  return {
    id: v7() as never,
    task_id,
    project_id: open.project_id,
    role: 'coder',
    agent_id: null,
    user_id: null,
    executor: 'person',
    status,
    dispatched: true,
    retry_at: null,
    queue_rank: null,
    exit_code: null,
    prompt: '',
    overrides: {},
    session_id: null,
    usage: null,
    error: null,
    summary: null,
    prompt_parts: null,
    start_commit: null,
    repository_state: null,
    containment: null,
    runner_id: null,
    attempt: 1,
    link: null,
    pid: null,
    pid_started: null,
    started_at: null,
    finished_at: null,
    last_heartbeat_at: null,
    created_at: at,
  }
}
