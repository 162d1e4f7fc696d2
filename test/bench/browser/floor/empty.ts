import { createApp, h } from 'vue'

// The least that a page of this framework can be.
createApp({ render: () => h('main', 'Nothing is here.') }).mount('#app')
