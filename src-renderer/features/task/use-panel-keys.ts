import type { ShallowRef } from 'vue'
import { useCommandHandlers, type CommandHandler } from '../../stores/commands.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import { panelTakes, type TabId } from './panel-keys.ts'

interface PanelKeyPorts {
  readonly root: Readonly<ShallowRef<HTMLElement | null>>
  readonly taskId: () => string
  show(tab: TabId): void
  /** Returns whether the panel has the tab. */
  has(tab: TabId): boolean
  toggleFull(): void
  start(): void
  stop(): void
  move(): void
  edit(): void
  /** Returns the reason why no agent can be started; null if one can. */
  startRefused(): string | null
  isRunning(): boolean
}

/** Registers the shortcuts of the open task while its panel is mounted. */
export function usePanelKeys(ports: PanelKeyPorts): void {
  const tasks = useTasks()
  const command = (run: () => void, refused: () => string | null = () => null): CommandHandler => ({
    accepts: (event) => panelTakes(event.target, ports.root.value),
    on: () => tasks.refOf(ports.taskId()),
    task: () => tasks.byId.get(ports.taskId()) ?? null,
    refused,
    run,
  })
  useCommandHandlers({
    full: command(() => ports.toggleFull()),
    start: command(() => ports.start(), ports.startRefused),
    stop: command(
      () => ports.stop(),
      () => (ports.isRunning() ? null : 'No agent is running'),
    ),
    move: command(() => ports.move()),
    edit: command(() => ports.edit()),
    overview: command(() => ports.show('overview')),
    agent: command(() => ports.show('agent')),
    changes: command(() => ports.show('changes')),
    review: command(() => ports.show('review')),
    'pull-request': {
      ...command(() => ports.show('pull_request')),
      on: () => (ports.has('pull_request') ? tasks.refOf(ports.taskId()) : null),
    },
    activity: command(() => ports.show('activity')),
  })
}
