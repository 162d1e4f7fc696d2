import { defineStore } from 'pinia'
import { computed } from 'vue'
import { isDoneState } from '../../../model/workflow-shape.ts'
import { useProjects } from '../../../stores/project/projects.ts'
import { useTasks } from '../../../stores/tasks/tasks.ts'

/** The number of subtasks and of finished ones. */
export interface SubtaskCount {
  readonly done: number
  readonly total: number
}

/** The subtask counts by parent task, computed once for all cards. */
export const useSubtasks = defineStore('subtasks', () => {
  const projects = useProjects()
  const tasks = useTasks()
  const counts = computed(() => {
    const byParent = new Map<string, SubtaskCount>()
    for (const { parent_id, project_id, status } of tasks.byId.values()) {
      if (parent_id === null) continue
      const { done, total } = byParent.get(parent_id) ?? { done: 0, total: 0 }
      const isDone = isDoneState(projects.workflow(project_id), status)
      byParent.set(parent_id, { done: done + (isDone ? 1 : 0), total: total + 1 })
    }
    return byParent
  })
  return { countOf: (taskId: string): SubtaskCount | null => counts.value.get(taskId) ?? null }
})
