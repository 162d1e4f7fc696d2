import { computed, ref, watch, type ComputedRef, type Ref } from 'vue'
import type { Notification } from '../../../src-shared/contract/notifications.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { useNavigation } from '../../stores/base/navigation.ts'
import { useNotifications } from '../../stores/people/notifications.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import { useToasts } from '../../stores/base/toasts.ts'
import { notificationLabels } from './notification-labels.ts'

/** The selection of the inbox and its actions. */
export interface Inbox {
  /** Returns the next notification of another task that needs the user; wraps at the end. */
  readonly nextThatNeeds: (needsYou: (task: Task) => boolean) => Notification | null
  readonly selected: ComputedRef<Notification | null>
  readonly selectedId: Readonly<Ref<string | null>>
  /** The index of the selected notification; -1 for none. */
  readonly index: ComputedRef<number>
  /** Selects a notification and marks it as read. */
  readonly select: (item: Notification) => void
  readonly projectName: (item: Notification) => string
  /** Opens the task; a null tab opens the one that shows the reason. */
  readonly open: (item: Notification, tab: string | null) => void
  /** Marks a notification as read or unread. */
  readonly toggle: (item: Notification) => void
  /** Deletes a notification, with undo. */
  readonly remove: (item: Notification) => void
  readonly markAllRead: () => Promise<void>
}

/** Returns the selection of the inbox and its actions. `shown`: its notifications in the order of the list. */
export function useInbox(shown: () => readonly Notification[]): Inbox {
  const notifications = useNotifications()
  const projects = useProjects()
  const navigation = useNavigation()
  const toasts = useToasts()
  const tasks = useTasks()
  const selectedId = ref<string | null>(null)
  /** The index of the selection, used when its row is removed. */
  let lastIndex: number | null = null

  const index = computed(() => shown().findIndex((item) => item.id === selectedId.value))
  const selected = computed(() => shown()[index.value] ?? null)
  watch(index, (next) => {
    if (next >= 0) lastIndex = next
  })
  // If the selected row is removed, select the next one in its place; on first load, the first, which is the newest
  // that needs the user.
  watch(
    shown,
    (items) => {
      if (selected.value !== null) return
      selectedId.value = items[Math.min(lastIndex ?? 0, items.length - 1)]?.id ?? null
    },
    { immediate: true },
  )

  function setRead(item: Notification, read: boolean): void {
    if (item.read === read) return
    notifications.mark(item, read).catch((error: unknown) => toasts.refused(error, 'Couldn’t update the notification.'))
  }
  function select(item: Notification): void {
    selectedId.value = item.id
    setRead(item, true)
  }
  function nextThatNeeds(needsYou: (task: Task) => boolean): Notification | null {
    const items = shown()
    const round = [...items.slice(index.value + 1), ...items.slice(0, Math.max(0, index.value))]
    const isWanted = ({ task_id }: Notification): boolean => {
      const task = tasks.byId.get(task_id)
      return task !== undefined && task_id !== selected.value?.task_id && needsYou(task)
    }
    return round.find(isWanted) ?? null
  }
  return {
    nextThatNeeds,
    selected,
    selectedId,
    index,
    select,
    projectName: (item: Notification): string => projects.byId.get(item.project_id)?.name ?? 'Project',
    open(item: Notification, tab: string | null): void {
      setRead(item, true)
      if (tab === null && item.event_type === 'knowledge.proposed') {
        navigation.go({ screen: 'project_settings', projectId: item.project_id, section: 'knowledge' })
        return
      }
      const opened = tab ?? notificationLabels(item.event_type).tab
      navigation.go({ screen: 'board', projectId: item.project_id, taskId: item.task_id, tab: opened })
    },
    toggle: (item: Notification): void => setRead(item, !item.read),
    remove(item: Notification): void {
      const undo = notifications.remove(item.id, (error) => toasts.refused(error, 'Couldn’t delete the notification.'))
      const undoDelete = () => {
        undo()
        selectedId.value = item.id
      }
      toasts.done('Notification deleted', { label: 'Undo', run: undoDelete })
    },
    async markAllRead(): Promise<void> {
      try {
        await notifications.markAllRead()
      } catch (error) {
        toasts.refused(error, 'Couldn’t mark them as read.')
      }
    },
  }
}
