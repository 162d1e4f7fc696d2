import { decide, type DecisionFacts } from '../../../../src-renderer/model/decision.ts'
import type { Review } from '../../../../src-shared/contract/reviews.ts'
import type { ErrorAnnotation, Task } from '../../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition, WorkflowState } from '../../../../src-shared/contract/workflow-definition.ts'
import { panelData, workflow } from '../../../helpers/task-panel-data.ts'
import { withTraits } from '../../../helpers/with-traits.ts'

export const data = panelData(Date.parse('2026-11-21T09:30:00.000Z'))
const [newest] = data.reviews
if (!newest) throw new Error('the data has no review')
const [first] = newest.step_results
if (!first) throw new Error('the review has no step')
/** A check of the review, which passed. */
export const step = first

/** How a task stands that a person decides about, by what differs from one that waits at its review. */
export interface Situation extends Partial<Omit<DecisionFacts, 'task' | 'reviews'>> {
  readonly task?: Partial<Task>
  /** Replaces the review, whose checks passed and which waits for a person; null for none. */
  readonly review?: Partial<Review> | null
}

export function decided({ task, review = { verdicts: [] }, ...more }: Situation = {}) {
  return decide({
    task: { ...data.task, status: 'review', active_execution_id: null, ...task },
    workflow,
    reviews: review === null ? [] : [{ ...newest, ...review } as Review],
    moves: [],
    branch: 'main',
    base: 'main',
    conflicts: [],
    unresolved: 0,
    drafts: 0,
    worker: null,
    coder: { name: 'Writer' },
    undoable: false,
    pullRequest: { ref: null, known: null, forge: 'GitHub', can: null, off: null, unready: null },
    changeRefusal: null,
    nameOf: () => 'Auditor',
    isMine: (by) => by === 'user:local',
    ...more,
  })
}
/** The sentence, the button's action, and the other actions, available or not. */
export function shown(situation?: Situation) {
  const decision = decided(situation)
  if (decision === null) return null
  return {
    says: decision.sentence.text,
    tone: decision.sentence.tone,
    button: decision.primary.label,
    can: decision.others.filter(({ refused }) => refused === null).map(({ id }) => id),
    cannot: Object.fromEntries(decision.others.flatMap(({ id, refused }) => (refused === null ? [] : [[id, refused]]))),
  }
}
/** The workflow with this instead of its review. */
export function gate(more: Partial<WorkflowState>): WorkflowDefinition {
  const states = workflow.states.map((state) => (state.name === 'review' ? { ...state, ...more } : state))
  return withTraits({ ...workflow, states })
}
export const annotated = (type: ErrorAnnotation['type'], more: Partial<ErrorAnnotation> = {}): Partial<Task> => ({
  error_annotation: { type, message: 'Because.', recovery_actions: [], ...more },
})
