import { shallowRef, watch } from 'vue'
import type { BranchUpdate } from '../../../src-shared/contract/merges.ts'
import { useAction } from '../../stores/base/query.ts'
import { conflictIn, useBranchUpdates, type Conflict, type UpdateStrategy } from '../../stores/review/branch-updates.ts'
import { useNavigation } from '../../stores/base/navigation.ts'
import { useToasts } from '../../stores/base/toasts.ts'
import { updateSentence } from './update-text.ts'

/** An action on a conflict: send to the agent, open in the editor, retry. */
export type ConflictAction = 'agent' | 'editor' | 'retry'

/** Updates a task's branch from its base; keeps the conflict until it is resolved. */
export function useConflict(taskId: () => string, base: () => string) {
  const updates = useBranchUpdates()
  const toasts = useToasts()
  const navigation = useNavigation()
  const conflict = shallowRef<Conflict | null>(null)
  const { current: busy, runWithToast } = useAction<ConflictAction | 'update'>()
  watch(taskId, () => (conflict.value = null))

  function report(reply: BranchUpdate, other?: string): void {
    conflict.value = reply.outcome === 'editor' ? { files: reply.files, hunks: reply.hunks, left: true } : null
    const see = { label: 'Open Agent', run: () => navigation.openTask(taskId(), 'agent') }
    toasts.done(updateSentence(reply, other ?? base()), reply.outcome === 'agent' ? see : undefined)
  }
  async function busily(
    action: ConflictAction | 'update',
    failed: string,
    work: () => Promise<unknown>,
  ): Promise<void> {
    const asked = taskId()
    await runWithToast(
      failed,
      async () => {
        try {
          await work()
        } catch (error) {
          const met = conflictIn(error)
          if (!met || asked !== taskId()) throw error
          conflict.value = met
        }
      },
      action,
    )
  }
  return {
    conflict,
    busy,
    busily,
    update: (strategy: UpdateStrategy, other?: string) =>
      busily('update', 'Couldn’t update the branch.', async () =>
        report(await updates.update(taskId(), strategy, 'report', other), other),
      ),
    resolveBy: (who: 'agent' | 'editor', strategy: UpdateStrategy, other?: string) =>
      busily(who, who === 'agent' ? 'Couldn’t hand it to the agent.' : 'Couldn’t open it.', async () =>
        report(await updates.update(taskId(), strategy, who, other), other),
      ),
  }
}
