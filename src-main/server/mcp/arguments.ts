import { z } from 'zod'

const name = z.string().trim().min(1).max(200)

/** Arguments that accept an ID, a part of it, or a name. */
export const projectId = name.optional().describe('Id, key or name of the project. Default: yours, else the only one.')
export const taskId = name.optional().describe('Id or number (SHO-42) of the task. Default: the one you work on.')
export const executionId = name.optional().describe('Id of the run. Default: your own.')
export const otherTask = name.describe('Id or number (SHO-42) of the other task.')
