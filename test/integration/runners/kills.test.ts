import { test, vi } from 'vitest'
import { sshd } from '../../fakes/git-ssh-server.ts'
import { createDaemonWorld, createSshWorld } from '../../helpers/runner-world.ts'
import { kills, killsLimitMs, survive } from '../../helpers/survive-kills.ts'

// At moments that no one chose, the service, the runner there and the link between them are killed, cut, held up, doubled
// and put out of order, answers are lost and the disk there is full. A run is never started twice without saying so, and
// every commit that an agent has made is found here in the end.

vi.setConfig({ testTimeout: killsLimitMs })

const isLinux = process.platform === 'linux'

test.runIf(isLinux && sshd !== null)(`loses nothing of runs on another machine through ${kills} kills`, () =>
  survive('ssh', createSshWorld),
)

test.runIf(isLinux)(`loses nothing of runs on a machine that connects itself through ${kills} kills`, () =>
  survive('daemon', createDaemonWorld),
)
