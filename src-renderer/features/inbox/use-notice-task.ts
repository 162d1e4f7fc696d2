import { computed } from 'vue'
import type { Notification } from '../../../src-shared/contract/notifications.ts'
import { stateOf } from '../../model/workflow-shape.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'

/** Returns the current task of a notification; null if it isn't loaded. */
export function useNoticeTask(item: () => Pick<Notification, 'task_id' | 'project_id'>) {
  const tasks = useTasks()
  const projects = useProjects()
  const task = computed(() => tasks.byId.get(item().task_id) ?? null)
  const state = computed(() => (task.value && stateOf(projects.workflow(item().project_id), task.value.status)) ?? null)
  return { task, state, isAtGate: computed(() => state.value?.kind === 'gate') }
}
