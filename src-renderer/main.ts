import './trusted-types.ts'
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
import App from './App.vue'
import { connection, firstAnswers } from './connection.ts'
import { linkInlinedStyles } from './inlined-styles.ts'
import { ignoreRepeatedPresses } from './shell/ignore-repeated-presses.ts'
import { connectionKey } from './stores/base/client.ts'

// The content policy forbids eval, which zod would otherwise try. It comes with the first screen that has to check something.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })

linkInlinedStyles()
ignoreRepeatedPresses(document)
/** Answers that arrive sooner are in the first drawing, which avoids laying out and painting a board without cards. */
const mostMs = 100
const app = createApp(App)
app.provide(connectionKey, connection)
app.use(createPinia())
const late = new Promise((resolve) => setTimeout(resolve, mostMs))
void Promise.race([firstAnswers, late]).then(() => app.mount('#app'))
