import type { MenuItem } from '../../../components/AppMenu.vue'
import type { CommandId } from '../../../model/command-list.ts'
import type { CardAction } from './use-card-actions.ts'

/** Returns the menu items of card actions with their shortcuts. */
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
