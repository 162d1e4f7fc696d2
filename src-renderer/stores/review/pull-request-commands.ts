import { computed, type ComputedRef } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { PullRequestAct } from '../../model/decision-action.ts'
import { decidePullRequest } from '../../model/pull-request-decision.ts'
import { openPage } from '../base/open-page.ts'
import { useToasts } from '../base/toasts.ts'
import { useCommandHandlers, type CommandHandler } from '../commands.ts'
import { useLive } from '../live.ts'
import { usePullRequestDeeds } from './pull-request-deeds.ts'
import { useLoadedPullRequest } from './pull-request-facts.ts'

/** Registers the commands about the task's pull request, while the component is mounted. */
export function usePullRequestCommands(
  task: ComputedRef<Task | null>,
  accepts: (event: KeyboardEvent) => boolean,
): void {
  const deeds = usePullRequestDeeds()
  const live = useLive()
  const toasts = useToasts()
  // Its tab loads it.
  const { integration, facts } = useLoadedPullRequest(
    () => task.value,
    () => false,
  )
  const actions = computed(() => decidePullRequest(facts.value).actions)
  const hasPull = computed(() => task.value?.pull_request != null)

  /** `fits`: whether the command means something for the task. */
  function command(fits: () => boolean, run: (task: Task) => unknown, refused: () => string | null): CommandHandler {
    return {
      accepts,
      on: () => (task.value && fits() ? task.value.ref : null),
      task: () => task.value,
      refused,
      run: () => void (task.value && run(task.value)),
    }
  }
  function act(of: PullRequestAct, fits: () => boolean): CommandHandler {
    const action = () => actions.value.find(({ deed }) => deed.kind === 'pull_request' && deed.act === of)
    return command(
      fits,
      (now) => deeds.perform(now, of),
      () => live.refusal ?? (action() ? (action()?.refused ?? null) : 'Not possible now'),
    )
  }
  const never = () => null
  async function copy({ pull_request }: Task): Promise<void> {
    if (pull_request === null) return
    await navigator.clipboard.writeText(pull_request.url)
    toasts.done('Copied the link of the pull request')
  }
  useCommandHandlers({
    'pull-open': act('open', () => !hasPull.value && integration.value?.pull_requests.enabled === true),
    'pull-merge': act('merge', () => hasPull.value && task.value?.pull_request?.state !== 'merged'),
    'pull-page': command(
      () => hasPull.value,
      ({ pull_request }) => openPage(pull_request?.url ?? ''),
      never,
    ),
    'pull-copy': command(() => hasPull.value, copy, never),
    'pull-check': command(
      () => hasPull.value,
      (now) => deeds.check(now),
      () => live.refusal,
    ),
  })
}
