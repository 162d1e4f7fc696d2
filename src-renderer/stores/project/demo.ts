import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import type { OperationOutput } from '../../../src-shared/contract/operations.ts'
import { readLocal, writeLocal } from '../base/local-storage.ts'

type DemoTasks = OperationOutput<'demo.create'>['tasks']

/** The demo that was made on this device, as long as its steps are shown. */
export interface Demo {
  readonly project_id: string
  /** IDs of its tasks. */
  readonly tasks: Readonly<Record<keyof DemoTasks, string>>
}

const key = 'copse.demo'

function read(): Demo | null {
  const { project_id, tasks } = readLocal(key)
  return typeof project_id === 'string' && typeof tasks === 'object' && tasks !== null
    ? { project_id, tasks: tasks as Demo['tasks'] }
    : null
}

/** Remembers on this device which project is the demo, so that its board shows what to try. */
export const useDemo = defineStore('demo', () => {
  const demo = shallowRef(read())
  function keep(next: Demo | null): void {
    demo.value = next
    writeLocal(key, next && JSON.stringify(next))
  }
  return {
    of: (projectId: string | null): Demo | null => (demo.value?.project_id === projectId ? demo.value : null),
    made: ({ project, tasks }: Pick<OperationOutput<'demo.create'>, 'project' | 'tasks'>): void => {
      const { merged, conflict, review, question, running } = tasks
      keep({
        project_id: project.id,
        tasks: {
          merged: merged.id,
          conflict: conflict.id,
          review: review.id,
          question: question.id,
          running: running.id,
        },
      })
    },
    leave: () => keep(null),
  }
})
