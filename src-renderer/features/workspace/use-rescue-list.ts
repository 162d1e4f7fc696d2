import { shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import type { Rescue } from '../../../src-shared/contract/rescues.ts'
import { useAction, useQuery, type Query } from '../../stores/base/query.ts'
import { useRescues, type RescueScope } from './rescues.ts'
import { useToasts } from '../../stores/base/toasts.ts'
import { restoreOutcome, type RestoreOutcome } from './rescue-text.ts'

/** The rescues of a task or a project with their actions. */
export interface Rescues {
  readonly list: Query<readonly Rescue[]>['data']
  readonly failure: Query<readonly Rescue[]>['error']
  readonly loading: Readonly<Ref<boolean>>
  readonly reload: () => Promise<void>
  /** The ref of the snapshot with an action in progress. */
  readonly doing: Readonly<Ref<string | null>>
  /** The result of the last restore, with the ref of its snapshot. */
  readonly outcome: ShallowRef<(RestoreOutcome & { readonly ref: string }) | null>
  readonly restore: (rescue: Rescue) => Promise<void>
  /** Deletes a snapshot. */
  readonly giveUp: (rescue: Rescue) => Promise<void>
}

/** Returns the rescues of a task or a project, reloaded when `changes` changes, with their actions. */
export function useRescueList(scope: () => RescueScope, changes: () => unknown): Rescues {
  const rescues = useRescues()
  const toasts = useToasts()
  const list = useQuery<readonly Rescue[]>(() => rescues.list(scope()))
  const { current, runWithToast } = useAction<string>()
  const outcome = shallowRef<(RestoreOutcome & { readonly ref: string }) | null>(null)

  watch(
    () => JSON.stringify(scope()),
    () => {
      list.clear()
      outcome.value = null
      void list.reload()
    },
    { immediate: true },
  )
  watch(changes, () => void list.reload())

  async function busily(rescue: Rescue, failed: string, work: () => Promise<void>): Promise<void> {
    if (current.value === null && !(await runWithToast(failed, work, rescue.ref))) await list.reload()
  }
  return {
    list: list.data,
    failure: list.error,
    loading: list.loading,
    reload: list.reload,
    doing: current,
    outcome,
    restore: (rescue: Rescue) =>
      busily(rescue, 'Couldn’t restore the snapshot.', async () => {
        outcome.value = null
        const restored = await rescues.restore(scope(), rescue)
        outcome.value = { ref: rescue.ref, ...restoreOutcome(restored, rescue.files) }
      }),
    giveUp: (rescue: Rescue) =>
      busily(rescue, 'Couldn’t delete the snapshot.', async () => {
        await rescues.giveUp(scope(), rescue)
        if (outcome.value?.ref === rescue.ref) outcome.value = null
        await list.reload()
        toasts.done('Snapshot deleted')
      }),
  }
}
