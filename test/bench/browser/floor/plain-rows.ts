import { useVirtualizer } from '@tanstack/vue-virtual'
import { createApp, defineComponent, h, ref } from 'vue'

// 200,000 rows of one line each, in the same virtual list as the product's; each may be dragged. And a field to type in.
const PlainRows = defineComponent(() => {
  const box = ref<HTMLElement | null>(null)
  const rows = useVirtualizer({
    count: 200_000,
    getScrollElement: () => box.value,
    estimateSize: () => 20,
    overscan: 12,
  })
  const row = (index: number, start: number) =>
    h('div', { key: index, draggable: true, style: { position: 'absolute', top: `${start}px` } }, `Row ${index}`)
  return () =>
    h('div', { ref: box, id: 'rows', style: { height: '100vh', overflow: 'auto' } }, [
      h('textarea', { style: { position: 'fixed', right: 0, bottom: 0 } }),
      h(
        'div',
        { style: { position: 'relative', height: `${rows.value.getTotalSize()}px` } },
        rows.value.getVirtualItems().map(({ index, start }) => row(index, start)),
      ),
    ])
})
createApp(PlainRows).mount('#app')
