import '@fontsource-variable/inter/opsz.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import 'vue-sonner/style.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/overlays.css'
import './styles/toasts.css'
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import { z } from 'zod'
import App from './App.vue'
import { createRendererClient } from './api/client.ts'
import { connectionKey } from './stores/client.ts'

// The content policy forbids eval, which zod would otherwise try.
z.config({ jitless: true })

const app = createApp(App)
app.provide(connectionKey, createRendererClient())
app.use(createPinia())
app.mount('#app')
