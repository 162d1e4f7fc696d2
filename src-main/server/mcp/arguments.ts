import { ExecutionId, ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'

export const projectId = ProjectId.optional().describe(
  "Id of the project. Default: your execution's project, else the only one that you may see.",
)
export const taskId = TaskId.optional().describe('Id of the task. Default: the task that you are working on.')
export const executionId = ExecutionId.optional().describe('Id of the execution. Default: your own.')
