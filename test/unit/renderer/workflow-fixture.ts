import { withTraits } from '../../helpers/with-traits.ts'
import { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'

/** A workflow with meaningless names, so that only kinds and hooks distinguish its states. */
export const workflow = withTraits(
  WorkflowDefinition.parse({
    states: [
      {
        name: 'ideas',
        kind: 'backlog',
        column: 'Ideas',
        label: 'Idea',
        transitions: [{ to: 'ready', label: 'Queue' }],
      },
      {
        name: 'ready',
        kind: 'initial',
        column: 'Ready',
        label: 'Ready',
        transitions: [{ to: 'making', label: 'Start' }],
      },
      { name: 'making', kind: 'active', role: 'assignee', column: 'Making', label: 'Making' },
      {
        name: 'stuck',
        kind: 'custom',
        column: 'Making',
        label: 'Stuck',
        hooks: { on_enter: [{ plugin: 'publish_task_blocked' }] },
      },
      {
        name: 'judged',
        kind: 'gate',
        column: 'Judging',
        label: 'Judging',
        gate_config: { reject_target: 'making' },
        hooks: { before_enter: [{ plugin: 'run_ci_steps' }] },
      },
      { name: 'planned', kind: 'gate', column: 'Judging', label: 'Planned' },
      {
        name: 'landing',
        kind: 'custom',
        column: 'Landing',
        label: 'Landing',
        hooks: { after_enter: [{ plugin: 'run_merge', on_failure: { cascade: 'crashed' } }] },
      },
      { name: 'crashed', kind: 'custom', column: 'Landing', label: 'Crashed' },
      { name: 'waiting', kind: 'custom', column: 'Waiting', label: 'Waiting' },
      { name: 'over', kind: 'terminal', column: 'Over', label: 'Over' },
      { name: 'dropped', kind: 'terminal', column: 'Over', label: 'Dropped' },
    ],
    cancellation_state: 'dropped',
  }),
)
