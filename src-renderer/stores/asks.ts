import { computed, ref, type Ref } from 'vue'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { commandOf, openAskOf, type AskAnswer, type OpenAsk } from '../model/asks.ts'
import { useDrafts, useDraftText } from './base/drafts.ts'
import { useAction } from './base/query.ts'
import { useCommandHandlers, type CommandHandler } from './commands.ts'
import { useShortcuts } from './device/shortcuts.ts'
import { useLive } from './live.ts'
import { usePeople } from './people/people.ts'
import { useExecutions } from './runs/executions.ts'
import { useTasks } from './tasks/tasks.ts'

/** Returns a function that gives the first open request of a task's run; null without one. */
export function useOpenAsks(): (task: Pick<Task, 'active_execution_id'> | null | undefined) => OpenAsk | null {
  const executions = useExecutions()
  return (task) => openAskOf(executions.byId.get(task?.active_execution_id ?? ''))
}

/** Returns what a box needs to show a request, and sends its answer. */
export function useAskAnswer(open: () => OpenAsk) {
  const drafts = useDrafts()
  const executions = useExecutions()
  const live = useLive()
  const people = usePeople()
  const shortcuts = useShortcuts()
  const tasks = useTasks()
  const { current: sending, runOn, runWithToast } = useAction<string>()
  /** The ID of the request that was answered here, until the next one arrives. */
  const answered = ref<string | null>(null)
  const draftKey = computed(() => `answer/${open().executionId}/${open().ask.id}`)
  return {
    /** The text that is being written. */
    words: useDraftText(() => draftKey.value),
    sending,
    refused: computed(() => live.refusal ?? (answered.value === open().ask.id ? 'Answered.' : null)),
    agentName: computed(() => {
      const run = executions.byId.get(open().executionId)
      return run ? people.worker(run).name : 'The agent'
    }),
    /** Returns the key labels of the option at this index. */
    keysOf: (index: number): readonly string[] => {
      const option = open().ask.options[index]
      const command = option === undefined ? null : commandOf(option)
      if (command !== null) return shortcuts.caps(command)
      return index < 9 ? [String(index + 1)] : []
    },
    /** Sends an answer; resolves to whether it was taken. */
    async answer(given: AskAnswer, what: string): Promise<boolean> {
      const { executionId, ask } = open()
      const key = draftKey.value
      const work = () => executions.answer(executionId, ask.id, given)
      const task = tasks.byId.get(executions.byId.get(executionId)?.task_id ?? '')
      const failed = 'Couldn’t send the answer'
      if (!(await (task ? runOn(task, failed, work, what) : runWithToast(`${failed}.`, work, what)))) return false
      answered.value = ask.id
      drafts.keep(key, null)
      return true
    },
  }
}

/** The functions of an `AskBox` that keys use. */
interface AskBoxHandle {
  press(index: number): void
  /** Returns why nothing can be answered now; null if it can. */
  refusal(): string | null
}

interface AskKeyPorts {
  readonly open: () => OpenAsk | null
  readonly box: Readonly<Ref<AskBoxHandle | null>>
  /** Returns the ref of the task if its box is the one that commands of the palette answer. */
  readonly on: () => string | null
  /** Returns whether a key press at the current focus is for this box. */
  readonly accepts: (event: KeyboardEvent) => boolean
  /** Called before the box takes a key press. */
  readonly onKey?: () => void
}

/** Registers the keys that answer a request while its box is mounted. */
export function useAskKeys({ open, box, on, accepts, onKey }: AskKeyPorts): void {
  const isMine = (event: KeyboardEvent): boolean => !event.repeat && box.value !== null && accepts(event)
  function press(index: number): void {
    onKey?.()
    box.value?.press(index)
  }
  function command(id: 'allow' | 'allow-run' | 'deny'): CommandHandler {
    const index = () => open()?.ask.options.findIndex((option) => commandOf(option) === id) ?? -1
    return {
      accepts: isMine,
      on: () => (index() < 0 ? null : on()),
      refused: () => box.value?.refusal() ?? null,
      run: () => press(index()),
    }
  }
  useCommandHandlers({
    allow: command('allow'),
    'allow-run': command('allow-run'),
    deny: command('deny'),
    answer: {
      accepts: (event) => isMine(event) && /^[1-9]$/.test(event.key),
      on: () => (open()?.ask.kind === 'question' ? on() : null),
      refused: () => box.value?.refusal() ?? null,
      // From the palette no number is pressed: it leads to the text field or the first option.
      run: (event) => press(event === undefined ? (open()?.ask.options.length ?? 0) : Number(event.key) - 1),
    },
  })
}
