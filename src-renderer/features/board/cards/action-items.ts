import type { MenuItem } from '../../../components/AppMenu.vue'
import type { CommandId } from '../../../model/command-list.ts'
import type { CardAction } from './use-card-actions.ts'

/** The rows of a menu of actions, each with the keys that do the same. */
export function actionItems(actions: readonly CardAction[], keysOf: (command: CommandId) => string): MenuItem[] {
  return actions.map(({ id, label, icon, command, refused = null, hint = null, apart = false }) => ({
    id,
    label,
    icon,
    refused,
    hint,
    apart,
    ...(command ? { keys: keysOf(command) } : {}),
  }))
}
