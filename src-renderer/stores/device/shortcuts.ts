import { defineStore } from 'pinia'
import { computed, ref, watch } from 'vue'
import { commandList, type CommandId, type CommandInfo } from '../../model/command-list.ts'
import { clash, keyLine, keyNames } from '../../model/key-names.ts'
import { readLocal } from '../base/local-storage.ts'

/** A command with its keys on this device. */
export interface Shortcut extends CommandInfo {
  readonly id: CommandId
}

const storageKey = 'copse.shortcuts'
const defaults = new Map<string, CommandInfo>(commandList.map((command) => [command.id, command]))

/** The shortcuts on this device: the defaults, and the user's replacements. */
export const useShortcuts = defineStore('shortcuts', () => {
  const mac = navigator.platform.startsWith('Mac')
  const custom = ref<Readonly<Record<string, readonly string[]>>>(read())
  watch(custom, (next) => localStorage.setItem(storageKey, JSON.stringify(next)))

  const keysOf = (id: CommandId): readonly string[] => custom.value[id] ?? defaults.get(id)?.keys ?? []
  const all = computed((): readonly Shortcut[] =>
    commandList.map(({ id, group, label }) => ({ id, group, label, keys: keysOf(id) })),
  )

  return {
    mac,
    /** The label of the modifier key for commands. */
    mod: mac ? '⌘' : 'Ctrl',
    shift: mac ? '⇧' : 'Shift',
    all,
    keysOf,
    /** Returns the first binding as text; empty if the command has none. */
    line: (id: CommandId): string => keysOf(id).map((binding) => keyLine(binding, mac))[0] ?? '',
    /** Returns the key labels of the first press, for buttons. */
    caps: (id: CommandId): readonly string[] => keysOf(id).map((binding) => keyNames(binding, mac)[0] ?? [])[0] ?? [],
    isOwn: (id: CommandId): boolean => custom.value[id] !== undefined,
    hasOwn: computed(() => Object.keys(custom.value).length > 0),
    /** Returns the label of another command whose keys conflict with the binding; null without one. */
    takenBy: (id: CommandId, binding: string): string | null =>
      all.value.find((other) => other.id !== id && other.keys.some((keys) => clash(keys, binding)))?.label ?? null,
    change(id: CommandId, keys: readonly string[]): void {
      custom.value = { ...custom.value, [id]: keys }
    },
    reset(id?: CommandId): void {
      custom.value =
        id === undefined ? {} : Object.fromEntries(Object.entries(custom.value).filter(([key]) => key !== id))
    },
  }
})

/** Reads the stored bindings. Ignores values of another shape. */
function read(): Record<string, readonly string[]> {
  const kept = Object.entries(readLocal(storageKey)).filter((entry): entry is [string, string[]] => {
    const [id, keys] = entry
    return defaults.has(id) && Array.isArray(keys) && keys.every((key) => typeof key === 'string' && key !== '')
  })
  return Object.fromEntries(kept)
}
