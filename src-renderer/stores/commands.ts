import { defineStore } from 'pinia'
import { createKeybindingsHandler } from 'tinykeys'
import { computed, onBeforeUnmount, onMounted, shallowRef } from 'vue'
import type { CommandId } from '../model/command-list.ts'
import { useShortcuts } from './device/shortcuts.ts'
import { useToasts } from './base/toasts.ts'

/** The handler of a command while its component is on screen. */
export interface CommandHandler {
  /** Whether a key press where the focus is now means this; without it, anywhere but in text, menus and dialogs. */
  readonly accepts?: (event: KeyboardEvent) => boolean
  /** Why it can't be done now, which who presses its keys is told; null where it can. */
  readonly refused?: () => string | null
  /** What it would be done to, for the palette: null where there is nothing. */
  readonly on?: () => string | null
  readonly run: () => void
}

export type CommandHandlers = Partial<Record<CommandId, CommandHandler>>

/** Who does what now. The youngest handler of a command has the first say. */
export const useCommands = defineStore('commands', () => {
  const shortcuts = useShortcuts()
  const toasts = useToasts()
  const registered = shallowRef<readonly CommandHandlers[]>([])

  /** A binding's last key was pressed. */
  let isThrough = false

  /** The same keys may mean one thing on the board and another in the changes: the handler that accepts the press runs. */
  function dispatch(ids: readonly CommandId[], event: KeyboardEvent): void {
    isThrough = true
    if (event.defaultPrevented || event.isComposing) return
    const accepting = registered.value
      .flatMap((handlers) => ids.flatMap((id) => handlers[id] ?? []))
      .find((handler) => {
        if (handler.on !== undefined && handler.on() === null) return false
        return handler.accepts?.(event) ?? !isTaken(event.target)
      })
    if (accepting === undefined) return
    event.preventDefault()
    perform(accepting, event.repeat)
  }
  /** Does it, or says why it can't be done now. */
  function perform(handler: CommandHandler, isRepeated = false): void {
    const reason = handler.refused?.() ?? null
    if (reason === null) handler.run()
    else if (!isRepeated) toasts.warn(sentence(reason))
  }
  /** Sequences first: the last press of one may be another command's only one. */
  const listener = computed(() => {
    const bindings = shortcuts.all.flatMap(({ id, keys }) => keys.map((binding) => ({ id, binding })))
    const longFirst = bindings.toSorted((a, b) => b.binding.split(' ').length - a.binding.split(' ').length)
    const map = Object.fromEntries(
      [...Map.groupBy(longFirst, ({ binding }) => binding)].map(([binding, all]) => {
        const ids = all.map(({ id }) => id)
        return [binding, (event: KeyboardEvent) => dispatch(ids, event)]
      }),
    )
    const begin = () => createKeybindingsHandler(map, { ignore: () => false })
    let handler = begin()
    return (event: KeyboardEvent): void => {
      isThrough = false
      handler(event)
      // It would still wait for the end of other sequences that began with the same key: `g p`, and `a` went to `g a`.
      if (isThrough) handler = begin()
    }
  })
  return {
    register(handlers: CommandHandlers): () => void {
      registered.value = [handlers, ...registered.value]
      return () => {
        registered.value = registered.value.filter((other) => other !== handlers)
      }
    },
    /** What can be asked for now, as the palette lists it. */
    available: computed(() =>
      shortcuts.all.flatMap((command) => {
        const handler = registered.value.find((handlers) => {
          const own = handlers[command.id]
          return own !== undefined && (own.on === undefined || own.on() !== null)
        })?.[command.id]
        return handler === undefined ? [] : [{ ...command, handler }]
      }),
    ),
    perform: (handler: CommandHandler): void => perform(handler),
    onKey: (event: KeyboardEvent): void => listener.value(event),
  }
})

/** Registers commands as long as the component is on screen. */
export function useCommandHandlers(handlers: CommandHandlers): void {
  const commands = useCommands()
  let drop: (() => void) | undefined
  onMounted(() => (drop = commands.register(handlers)))
  onBeforeUnmount(() => drop?.())
}

/** Reasons stand behind commands without a full stop; alone they are sentences. */
function sentence(reason: string): string {
  return /[.!?…]$/.test(reason) ? reason : `${reason}.`
}

/** Whether the focus is in a field or menu, where letters are input. */
export function isTaken(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest(
      'input, textarea, select, [contenteditable="true"], [role="dialog"], [role="menu"], [role="listbox"]',
    ) !== null
  )
}
