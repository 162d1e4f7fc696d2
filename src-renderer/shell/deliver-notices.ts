import type { NoticeResponse, SystemNotice } from '../../src-shared/contract/desktop.ts'
import type { Notification } from '../../src-shared/contract/notifications.ts'
import { throttle } from '../composables/throttle.ts'
import { onBeforeUnmount, onMounted, watch } from 'vue'
import { playChime } from '../composables/play-chime.ts'
import { answerOf, noticeAnswers, type AskAnswer, type OpenAsk } from '../model/asks.ts'
import { useToasts } from '../stores/base/toasts.ts'
import { useOpenAsks } from '../stores/asks.ts'
import { useExecutions } from '../stores/runs/executions.ts'
import { useTasks } from '../stores/tasks/tasks.ts'
import { useDelivery } from '../stores/device/delivery.ts'
import { useNavigation } from '../stores/base/navigation.ts'
import { useNotifications } from '../stores/people/notifications.ts'

/** The functions of the device and the page that delivery uses. */
export interface DeliveryPorts {
  readonly wants: () => { readonly system: boolean; readonly sound: boolean }
  isMuted(projectId: string): boolean
  /** Returns whether the user is looking at this task now. */
  isLookedAt(taskId: string): boolean
  show(notice: SystemNotice, onResponse: (response: NoticeResponse) => void): void
  /** Returns the open request of a task's agent. */
  askOf(taskId: string): OpenAsk | null
  answer(open: OpenAsk, given: AskAnswer): void
  play(): void
  openTask(item: Notification): void
  openInbox(): void
}

export interface Deliverer {
  deliver(item: Notification): void
  stop(): void
}

/** The shortest pause between notifications in milliseconds; those in between are shown together. */
export const deliveryPauseMs = 3_000
/** The maximum shown separately. More are shown as a number, because after a night they would flood the system. */
const maxSeparate = 3

/** Announces notifications by system message and sound, as this device's settings say. */
export function createDeliverer(ports: DeliveryPorts): Deliverer {
  let waiting: Notification[] = []
  const throttled = throttle(deliveryPauseMs, () => {
    const items = waiting
    waiting = []
    const { system, sound } = ports.wants()
    if (system && items.length > maxSeparate) {
      const title = `${items.length} new notifications`
      ports.show({ tag: 'several', title, body: 'See them in the inbox.' }, ports.openInbox)
    } else if (system) {
      for (const item of items) showOne(ports, item)
    }
    if (sound) ports.play()
  })
  return {
    deliver: (item) => {
      const { system, sound } = ports.wants()
      if (!(system || sound) || ports.isMuted(item.project_id) || ports.isLookedAt(item.task_id)) return
      waiting.push(item)
      throttled.ask()
    },
    stop: () => throttled.stop(),
  }
}

/** Shows a notification with the answers of its question, if all of that question fits into it. */
function showOne(ports: DeliveryPorts, item: Notification): void {
  const open = item.event_type === 'execution.asks' ? ports.askOf(item.task_id) : null
  const answers = open && noticeAnswers(open.ask)
  ports.show({ ...noticeOf(item), ...answers }, (response) => {
    const option = response.kind === 'action' ? (open?.ask.options[response.index] ?? null) : null
    if (open && option) ports.answer(open, answerOf(open.ask, { option, chosen: [], words: '' }))
    else if (open && response.kind === 'reply')
      ports.answer(open, answerOf(open.ask, { option: null, chosen: [], words: response.text }))
    else ports.openTask(item)
  })
}

/** Converts a notification for the system. Its tag makes two windows show it only once. */
function noticeOf({ id, title, body }: Notification): SystemNotice {
  return { tag: id, title, body: body?.split('\n')[0]?.slice(0, 200) ?? '' }
}

/** Announces new notifications while the page is open, and keeps the number on the app's icon current. */
export function useDeliveredNotices(): void {
  const delivery = useDelivery()
  const navigation = useNavigation()
  const notifications = useNotifications()
  const executions = useExecutions()
  const tasks = useTasks()
  const toasts = useToasts()
  const openAsk = useOpenAsks()
  const deliverer = createDeliverer({
    wants: () => ({ system: delivery.system, sound: delivery.sound }),
    isMuted: delivery.isMuted,
    isLookedAt: (taskId) => navigation.taskId === taskId && document.hasFocus(),
    show: delivery.show,
    askOf: (taskId) => openAsk(tasks.byId.get(taskId)),
    answer: (open, given) =>
      void executions
        .answer(open.executionId, open.ask.id, given)
        .catch((error: unknown) => toasts.refused(error, 'Couldn’t send the answer.')),
    play: playChime,
    openTask: ({ project_id, task_id }) =>
      navigation.go({ screen: 'board', projectId: project_id, taskId: task_id, tab: null }),
    openInbox: () => navigation.go({ screen: 'inbox' }),
  })
  let stopListening: () => void = () => undefined
  onMounted(() => {
    stopListening = notifications.onCreated(deliverer.deliver)
  })
  onBeforeUnmount(() => {
    stopListening()
    deliverer.stop()
  })
  watch([() => notifications.unread, () => delivery.badge], ([unread]) => delivery.setBadge(unread ?? 0), {
    immediate: true,
  })
}
