import { z } from 'zod'
import { runInstruction } from '../../../src-shared/contract/executions.ts'
import type { CommentId } from '../../../src-shared/contract/ids.ts'
import { operations } from '../../../src-shared/contract/operations.ts'
import { executionId, otherTask, projectId, taskId } from './arguments.ts'
import { awaitRun } from './await-run.ts'
import { defineTool, type McpTool } from './tool.ts'
import { submitForReview } from './submit-for-review.ts'

const create = operations['tasks.create'].input.shape
const update = operations['tasks.update'].input.shape
const claim = operations['tasks.claim'].input.shape
const comment = operations['comments.create'].input.shape
const reply = operations['pull_requests.reply'].input.shape
const transition = operations['tasks.transition'].input.shape
const verdict = operations['tasks.verdict'].input.shape
const finish = operations['executions.finish'].input.shape

const ifVersion = update.version.describe('Only if this is still its version; else version_conflict.')
const priority = create.priority.describe('0 none, 1 low, 2 medium, 3 high, 4 urgent.')
const reviewConfig = create.review_config.describe(
  'ci_steps: shell commands that must succeed before the review. review_prompt: what a reviewing agent is asked. ' +
    'With the token of a run leave it out: only people set it.',
)

/** Tools that change something. */
export const writingTools = {
  svc_create_task: defineTool('tasks.create', {
    title: 'Create a task',
    description:
      "Writes a new task in the project's primary repository, for work that is not part of yours. It waits until " +
      'someone claims it: nothing starts on its own. Say in the description everything that the one who does it must know, for ' +
      'they do not see your conversation. With parent_id it becomes a part of that task.',
    effect: 'adds',
    input: z.object({
      title: create.title.describe('A short label.'),
      description: create.description.describe('The full prompt for the agent that will do it, in Markdown.'),
      project_id: projectId,
      status: create.status.describe('A state of kind backlog or initial. Default: where the workflow begins.'),
      labels: create.labels.describe('Labels.'),
      priority,
      review_config: reviewConfig,
      parent_id: otherTask.optional().describe('The task that this one is a part of.'),
      subtask_mode: create.subtask_mode,
      stacked_on: otherTask.optional().describe('The task on whose branch it begins; it lands after that.'),
    }),
    run: async ({ project_id, parent_id, stacked_on, ...task }, scope) =>
      scope.call('tasks.create', {
        ...task,
        ...(stacked_on !== undefined && { stacked_on: await scope.taskId(stacked_on) }),
        ...(parent_id !== undefined && { parent_id: await scope.taskId(parent_id) }),
        project_id: await scope.projectId(project_id),
      }),
  }),
  svc_update_task: defineTool('tasks.update', {
    title: 'Update a task',
    description:
      'Changes the fields that you name and leaves the others. It does not move the task: for that there are ' +
      'svc_assign_agent, svc_submit_for_review and svc_submit_verdict. To tell of your progress, comment instead.',
    effect: 'replaces',
    input: z.object({
      task_id: taskId,
      title: update.title,
      description: update.description.describe('The whole new description; null takes it away.'),
      labels: update.labels.describe('All its labels.'),
      priority,
      review_config: reviewConfig,
      stacked_on: otherTask.nullable().optional().describe('The task below it; null: none.'),
      version: ifVersion,
    }),
    run: async ({ task_id, stacked_on, ...changes }, scope) =>
      scope.call('tasks.update', {
        ...changes,
        ...(stacked_on !== undefined && { stacked_on: stacked_on && (await scope.taskId(stacked_on)) }),
        task_id: await scope.taskId(task_id),
      }),
  }),
  svc_add_comment: defineTool('comments.create', {
    title: 'Comment on a task',
    description:
      'Says something to the people and agents of a task: progress, a question, what you found out. With anchor it is ' +
      'about one line of the diff (a review). To answer a comment that was sent to you, name it as parent_id ' +
      '(svc_list_comments has the ids). It moves nothing and starts no one.',
    effect: 'adds',
    input: z.object({
      task_id: taskId,
      body: comment.body.describe('Markdown.'),
      parent_id: comment.parent_id.describe('The comment that this one answers.'),
      resolves: comment.resolves.describe(
        'With parent_id: nothing is left to do or to say in that thread. Leave it to the reviewer where you are not sure.',
      ),
      anchor: comment.anchor.describe('A line of the diff: side old counts in the file before, new in the file now.'),
    }),
    run: async ({ task_id, ...said }, scope) =>
      scope.call('comments.create', { ...said, task_id: await scope.taskId(task_id) }),
  }),
  svc_reply_to_thread: defineTool('pull_requests.reply', {
    title: 'Answer a thread of a pull request',
    description:
      'Answers a thread on the pull request of a task, in a few words: what you changed, or why not. It is sent with the ' +
      'next push, so that the reviewer finds the change beside it. svc_get_pull_request has the ids of threads.',
    effect: 'adds',
    input: z.object({
      task_id: taskId,
      thread_id: reply.thread_id.describe('Id of the thread.'),
      body: reply.body.describe('Markdown.'),
      resolve: reply.resolve.describe('Nothing is left to say there. Leave it to the reviewer where you are not sure.'),
    }),
    run: async ({ task_id, ...said }, scope) =>
      scope.call('pull_requests.reply', { ...said, task_id: await scope.taskId(task_id) }),
  }),
  svc_assign_agent: defineTool('tasks.claim', {
    title: 'Assign an agent to a task',
    description:
      'Claims the task for an agent: creates its worktree and starts the agent immediately. An agent of the type external ' +
      'gets workspace.path to work in, then sends heartbeats and finishes the run itself. Refused while the agent or the ' +
      'project is paused, a dependency is unfinished, the state is full (lock_policy wait: starts later), or someone already has the task.',
    effect: 'adds',
    input: z.object({
      task_id: otherTask.describe('Id or number (SHO-42) of the task.'),
      agent_id: z.string().optional().describe('Id or name of the agent.'),
      overrides: claim.overrides.describe(
        "Laid over the agent's configuration for this run; prompt replaces the task's. With a run's token only " +
          'prompt, model, timeout_seconds and lock_policy.',
      ),
    }),
    run: async ({ task_id, agent_id, ...args }, scope) =>
      scope.call('tasks.claim', {
        ...args,
        task_id: await scope.taskId(task_id),
        ...(await scope.agent(agent_id)),
      }),
  }),
  svc_submit_for_review: defineTool('tasks.transition', {
    title: 'Submit the work for review',
    description:
      'Call it once, when the work on the task is done and committed: the task continues along its workflow (to review, ' +
      'by default) and its checks run. Your execution ends with it, so do nothing afterwards. What you have not ' +
      'committed stays in the worktree and is part of the review. Ask questions in a comment, not here.',
    effect: 'adds',
    input: z.object({
      task_id: taskId,
      summary: transition.reason.describe('What was done, for the reviewer.'),
      version: ifVersion,
    }),
    run: async ({ task_id, summary, version }, scope) =>
      submitForReview(scope, { task_id: await scope.taskId(task_id), summary, version }),
  }),
  svc_submit_verdict: defineTool('tasks.verdict', {
    title: 'Submit a verdict',
    description:
      'For reviewers and planners: approves the task or requests changes at its gate. pass lets it continue, or wait for a ' +
      'person where the gate asks for one; fail sends it back, and the coder starts again with your feedback. Read ' +
      'svc_get_task_diff with scope branch first, send the tree that it names with a pass, and do not change the files yourself.',
    effect: 'adds',
    input: z.object({
      task_id: taskId,
      verdict: verdict.verdict,
      feedback: verdict.feedback.describe('What has to change, and where.'),
      // Without the pattern of an ID, which every client would pay for; the operation checks it.
      comment_ids: z.array(z.string()).optional().describe('With a fail; your unsent ones by default.'),
      tree: verdict.tree.describe(
        'With a pass: the tree that svc_get_task_diff named; work_changed if it is another now.',
      ),
      version: ifVersion,
    }),
    run: async ({ task_id, comment_ids, ...judged }, scope) =>
      scope.call('tasks.verdict', {
        ...judged,
        ...(comment_ids && { comment_ids: comment_ids as CommentId[] }),
        task_id: await scope.taskId(task_id),
      }),
  }),
  svc_propose_chapters: defineTool('tasks.propose_chapters', {
    title: 'Propose chapters',
    description:
      'Divides the changes of a task into chapters for its reviewers, in your words. Each hunk of svc_get_task_chapters ' +
      'belongs to exactly one. Call it after your last change: they are for that tree only.',
    effect: 'marks',
    input: z.object({
      task_id: taskId,
      tree: z.string(),
      chapters: z.array(
        z.object({
          title: z.string().describe('120 characters.'),
          why: z.string().describe('What to know first; 600 characters.'),
          hunks: z.array(z.string()).describe('Ids.'),
        }),
      ),
    }),
    run: async ({ task_id, ...proposed }, scope) => {
      const told = await scope.call('tasks.propose_chapters', { ...proposed, task_id: await scope.taskId(task_id) })
      return { tree: told.tree, chapters: told.chapters.map(({ title, folded }) => ({ title, folded })) }
    },
  }),
  svc_finish_execution: defineTool('executions.finish', {
    title: 'Finish an execution',
    description:
      'For agents of the kind external only: ends their execution. succeeded moves the task on, to review; failed ' +
      'leaves it where it is and says so. Agents that this service has started just end.',
    effect: 'adds',
    input: z.object({
      execution_id: executionId,
      status: finish.status,
      summary: finish.summary.describe('What was done, or why it failed.'),
      usage: finish.usage.describe('As svc_heartbeat takes it.'),
    }),
    run: async ({ execution_id, ...end }, scope) =>
      scope.call('executions.finish', { ...end, execution_id: await scope.executionId(execution_id) }),
  }),
  svc_heartbeat: defineTool('executions.heartbeat', {
    title: 'Send a heartbeat',
    description:
      'For agents of the kind external only: call it about every 30 seconds while you work; after 90 without, the ' +
      'execution counts as lost. Where action is stop, or the answer is execution_not_running, stop working.',
    effect: 'marks',
    input: z.object({ execution_id: executionId, usage: finish.usage }),
    output: z.looseObject({ action: runInstruction.action }),
    run: async ({ execution_id, usage }, scope) =>
      scope.call('executions.heartbeat', { execution_id: await scope.executionId(execution_id), usage }),
  }),
  svc_move_task: defineTool('tasks.transition', {
    title: 'Move a task',
    description:
      'Moves a task to another state of its workflow, such as todo or in_progress. A state that may not be entered now is ' +
      'refused with why, and with those that may. For your own finished work use svc_submit_for_review.',
    effect: 'adds',
    input: z.object({
      task_id: taskId,
      status: transition.status.describe('The name of the state.'),
      reason: transition.reason.describe('Why; it stands in the task’s history.'),
      version: ifVersion,
    }),
    run: async ({ task_id, version, ...move }, scope) => {
      const id = await scope.taskId(task_id)
      const at = version ?? (await scope.call('tasks.get', { task_id: id })).version
      return scope.call('tasks.transition', { ...move, task_id: id, version: at })
    },
  }),
  svc_stop_execution: defineTool('executions.stop', {
    title: 'Stop a run',
    description:
      'Ends a run that you may stop, with all of its processes; its work stays in the worktree and its task where it is. ' +
      'Name the task, or the run by its id. Your own run ends by your ending your turn.',
    effect: 'marks',
    input: z.object({
      task_id: taskId.describe('The task whose run is stopped.'),
      execution_id: executionId.describe('The run, if not the active one.'),
    }),
    run: async ({ task_id, execution_id }, scope) =>
      scope.call('executions.stop', { execution_id: await scope.runOf(task_id, execution_id) }),
  }),
  svc_add_dependency: defineTool('tasks.add_dependency', {
    title: 'Make a task depend on another',
    description:
      'The task can’t start before the other one is done. Both are of one project; circles are refused. Twice is the same as once.',
    effect: 'marks',
    input: z.object({ task_id: taskId, depends_on_id: otherTask }),
    run: async ({ task_id, depends_on_id }, scope) =>
      scope.call('tasks.add_dependency', {
        task_id: await scope.taskId(task_id),
        depends_on_id: await scope.taskId(depends_on_id),
      }),
  }),
  svc_remove_dependency: defineTool('tasks.remove_dependency', {
    title: 'Remove a dependency',
    description: 'The task no longer depends on the other one; it can start as soon as nothing else holds it up.',
    effect: 'marks',
    input: z.object({ task_id: taskId, depends_on_id: otherTask }),
    run: async ({ task_id, depends_on_id }, scope) => {
      const id = await scope.taskId(task_id)
      await scope.call('tasks.remove_dependency', { task_id: id, depends_on_id: await scope.taskId(depends_on_id) })
      return scope.call('tasks.dependencies', { task_id: id })
    },
  }),
  svc_await_run: awaitRun,
} as const satisfies Record<string, McpTool>
