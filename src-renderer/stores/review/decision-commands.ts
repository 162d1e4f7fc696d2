import { actionFor, type DecisionAction } from '../../model/decision-action.ts'
import { useToasts } from '../base/toasts.ts'
import { isTaken, useCommandHandlers, useCommands, type CommandHandler } from '../commands.ts'
import { useTasks } from '../tasks/tasks.ts'
import { useDecisionDeeds, type DecisionInHand } from './decisions.ts'

const names = {
  merge: 'Nothing to merge',
  approve: 'Nothing to approve',
  'request-changes': 'Nothing to decide',
  'undo-merge': 'Nothing to undo',
} as const

/** Registers the commands that decide about the task, while the component is mounted. */
export function useDecisionCommands(
  hand: DecisionInHand,
  choose: (action: DecisionAction) => Promise<boolean>,
  accepts: (event: KeyboardEvent) => boolean = ({ target }) => !isTaken(target),
): { mergeAndGoOn: () => Promise<void> } {
  const commands = useCommands()
  const toasts = useToasts()
  const on = () => {
    const { value: task } = hand.task
    return task?.ref ?? null
  }
  /** Waits for the decision to load, because a key may be pressed before. */
  async function known(command: keyof typeof names): Promise<DecisionAction | null> {
    await hand.settled()
    const { value: decision } = hand.decision
    const action = actionFor(decision, command)
    if (action !== null && action.refused === null) return action
    const { value: task } = hand.task
    const where = hand.state.value ? ` in ${hand.state.value.label}` : ''
    if (task) toasts.warnOn(task, action?.refused ? `${action.refused}.` : `${names[command]}${where}.`)
    return null
  }
  const command = (id: keyof typeof names): CommandHandler => ({
    accepts,
    on,
    run: () =>
      void known(id).then((action) => {
        if (action) void choose(action)
      }),
  })
  const deeds = useDecisionDeeds()
  const tasks = useTasks()
  const shown = command('undo-merge')
  /** Merging may have gone on to the next task: then it undoes what the toast names. */
  const undo: CommandHandler = {
    ...shown,
    on: () => (deeds.lastMerged === null || isShownMerged() ? on() : tasks.refOf(deeds.lastMerged)),
    run: () => {
      const { lastMerged } = deeds
      if (lastMerged !== null && !isShownMerged()) void deeds.undoMerge(lastMerged)
      else shown.run()
    },
  }
  const isShownMerged = () => actionFor(hand.decision.value, 'undo-merge') !== null
  async function mergeAndGoOn(): Promise<void> {
    await hand.settled()
    const isPlan = actionFor(hand.decision.value, 'merge') === null
    const action = await known(isPlan ? 'approve' : 'merge')
    if (action === null || !(await choose(action))) return
    const next = commands.available.find(({ id }) => id === 'next-needs-you')?.handler
    if (next) commands.perform(next)
  }
  useCommandHandlers({
    merge: command('merge'),
    approve: command('approve'),
    'request-changes': command('request-changes'),
    'undo-merge': undo,
    'merge-next': { accepts, on, run: () => void mergeAndGoOn() },
  })
  return { mergeAndGoOn }
}
