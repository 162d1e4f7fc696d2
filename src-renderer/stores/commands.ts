import { defineStore } from 'pinia'
import { createKeybindingsHandler } from 'tinykeys'
import { computed, onBeforeUnmount, onMounted, shallowRef } from 'vue'
import type { CommandId } from '../model/command-list.ts'
import { useShortcuts } from './device/shortcuts.ts'
import { useToasts, type TaskOfToast } from './base/toasts.ts'

/** The handler of a command while its component is on screen. */
export interface CommandHandler {
  /**
   * Returns whether the handler accepts a key press at the current focus. By default any but in
   * text, menus and dialogs.
   */
  readonly accepts?: (event: KeyboardEvent) => boolean
  /** Returns why the command is unavailable, for a toast; null if it is available. */
  readonly refused?: () => string | null
  /** Returns the command's target, for the palette; null without one. */
  readonly on?: () => string | null
  /** Returns the task that the command is about, to name it when the command is unavailable. */
  readonly task?: () => TaskOfToast | null
  /** The event is absent when the command was chosen in the palette. */
  readonly run: (event?: KeyboardEvent) => void
}

export type CommandHandlers = Partial<Record<CommandId, CommandHandler>>

/** The registered command handlers. The last registered handler of a command comes first. */
export const useCommands = defineStore('commands', () => {
  const shortcuts = useShortcuts()
  const toasts = useToasts()
  const registered = shallowRef<readonly CommandHandlers[]>([])

  /** Whether the current key press completed a binding. */
  let isBindingComplete = false

  /**
   * Runs the first handler that accepts the press: the same keys can mean one thing on the board
   * and another in the changes.
   */
  function dispatch(ids: readonly CommandId[], event: KeyboardEvent): void {
    isBindingComplete = true
    if (event.defaultPrevented || event.isComposing) return
    const accepting = registered.value
      .flatMap((handlers) => ids.flatMap((id) => handlers[id] ?? []))
      .find((handler) => {
        if (handler.on !== undefined && handler.on() === null) return false
        return handler.accepts?.(event) ?? !isTaken(event.target)
      })
    if (accepting === undefined) return
    event.preventDefault()
    perform(accepting, event)
  }
  /** Runs the handler, or shows why the command is unavailable. */
  function perform(handler: CommandHandler, event?: KeyboardEvent): void {
    const reason = handler.refused?.() ?? null
    if (reason === null) return handler.run(event)
    if (event?.repeat === true) return
    const task = handler.task?.() ?? null
    if (task === null) toasts.warn(sentence(reason))
    else toasts.warnOn(task, sentence(reason))
  }
  /** Longer sequences come first, because the last press of one may be another command's only one. */
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
      isBindingComplete = false
      handler(event)
      // The handler would still wait for other sequences that begin with the same key: after `g p`,
      // `a` would complete `g a`.
      if (isBindingComplete) handler = begin()
    }
  })
  return {
    register(handlers: CommandHandlers): () => void {
      registered.value = [handlers, ...registered.value]
      return () => {
        registered.value = registered.value.filter((other) => other !== handlers)
      }
    },
    /** The available commands, for the palette. */
    available: computed(() =>
      shortcuts.all.flatMap((command) => {
        const handler = registered.value.find((handlers) => {
          const handler = handlers[command.id]
          return handler !== undefined && (handler.on === undefined || handler.on() !== null)
        })?.[command.id]
        return handler === undefined ? [] : [{ ...command, handler }]
      }),
    ),
    perform: (handler: CommandHandler): void => perform(handler),
    onKey: (event: KeyboardEvent): void => listener.value(event),
  }
})

/** Registers commands while the component is mounted. */
export function useCommandHandlers(handlers: CommandHandlers): void {
  const commands = useCommands()
  let drop: (() => void) | undefined
  onMounted(() => (drop = commands.register(handlers)))
  onBeforeUnmount(() => drop?.())
}

/** Adds a full stop: reasons have none, because they usually follow a command. */
function sentence(reason: string): string {
  return /[.!?…]$/.test(reason) ? reason : `${reason}.`
}

/** Returns whether the focus is in a field, menu or dialog, where letters are input. */
export function isTaken(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest(
      'input, textarea, select, [contenteditable="true"], [role="dialog"], [role="menu"], [role="listbox"]',
    ) !== null
  )
}
