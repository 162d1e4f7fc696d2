import { onBeforeUnmount, onMounted, watch } from 'vue'
import { playChime } from '../composables/play-chime.ts'
import { useDelivery } from '../stores/delivery.ts'
import { useNavigation } from '../stores/navigation.ts'
import { useNotifications } from '../stores/notifications.ts'
import { createDeliverer } from './deliver-notices.ts'

/** Lets the person hear of new notifications while the page is open, and keeps the number on the app's icon. */
export function useDeliveredNotices(): void {
  const delivery = useDelivery()
  const navigation = useNavigation()
  const notifications = useNotifications()
  const deliverer = createDeliverer({
    wants: () => ({ system: delivery.system, sound: delivery.sound }),
    isMuted: delivery.isMuted,
    isLookedAt: (taskId) => navigation.taskId === taskId && document.hasFocus(),
    show: delivery.show,
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
