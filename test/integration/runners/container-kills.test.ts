import { test, vi } from 'vitest'
import { useTestEngine } from '../../helpers/container-job.ts'
import { createContainerWorld } from '../../helpers/container-world.ts'
import { present } from '../../helpers/present.ts'
import { kills, killsLimitMs, survive } from '../../helpers/survive-kills.ts'

// At moments that no one chose, the service, a container, what holds or starts it, the client that waits for it, the agent
// in it and the engine are killed. Each run then ends with the reason, all it committed is here, and nothing works on.

vi.setConfig({ testTimeout: killsLimitMs })

const found = await useTestEngine()

test.skipIf(found === null)(`loses nothing of runs in containers through ${kills} kills`, () =>
  survive('container', (seed) => createContainerWorld(present(found), seed)),
)
