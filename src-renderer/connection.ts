import { createRendererClient } from './api/client.ts'
import { parseRoute } from './model/route.ts'
import { keptTheme, showTheme } from './stores/device/theme.ts'

// The page is painted before the script of the screens is there.
showTheme(keptTheme())

const route = parseRoute(window.location.hash)

/** The page's connection to the service. It begins with this file, before the script of the screens is there. */
export const { connection, firstAnswers } = createRendererClient('projectId' in route ? route.projectId : null)
