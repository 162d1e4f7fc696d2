import type { Command } from 'commander'
import { addGroup } from '../command-context.ts'
import { addTaskAnswer } from './task-answer.ts'
import { addTaskAttach } from './task-attach.ts'
import { addTaskCreate } from './task-create.ts'
import { addTaskEdit } from './task-edit.ts'
import { addTaskChapters } from './task-chapters.ts'
import { addTaskDiff } from './task-diff.ts'
import { addTaskLogs } from './task-logs.ts'
import { addTaskMessage } from './task-message.ts'
import { addTaskMoves } from './task-moves.ts'
import { addTaskPrompt } from './task-prompt.ts'
import { addTaskViews } from './task-views.ts'

/** Adds `svc task …`. */
export function addTask(program: Command): void {
  const task = addGroup(program, 'task', 'create, start, follow, review and move tasks')
  addTaskCreate(task)
  addTaskEdit(task)
  addTaskAttach(task)
  addTaskViews(task)
  addTaskMoves(task)
  addTaskMessage(task)
  addTaskDiff(task)
  addTaskChapters(task)
  addTaskLogs(task)
  addTaskPrompt(task)
  addTaskAnswer(task)
}
