import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Place } from '../../src-main/ports/place.ts'
import type { HeldContainment } from '../../src-shared/contract/containment.ts'
import { createCallPipe } from './call-pipe.ts'
import { projectRoot } from './project-root.ts'

/** A place in another process, with a data folder of its own, to which everything goes over a pipe; removed with it. */
export interface PipedPlace extends AsyncDisposable {
  readonly place: Place
  readonly pid: number
}

interface Far {
  readonly place: Place
  readonly known: {
    readonly levels: Readonly<Record<string, { readonly effective: HeldContainment; readonly refusal: string | null }>>
    readonly locations: Readonly<Record<string, 'local' | 'remote'>>
  }
}

export async function startPipedPlace(dataDir: string): Promise<PipedPlace> {
  const child = fork(join(projectRoot, 'test/helpers/piped-place-process.ts'), [dataDir], { serialization: 'advanced' })
  const exited = once(child, 'exit')
  const pipe = createCallPipe((message) => child.connected && child.send(message), null)
  child.on('message', pipe.receive)
  const { place, known } = (await Promise.race([
    pipe.far,
    exited.then(() => Promise.reject(new Error('The other process did not start.'))),
  ])) as Far
  return {
    pid: child.pid ?? 0,
    place: {
      ...place,
      containment: {
        ...place.containment,
        effectiveLevel: (level) => known.levels[level]?.effective ?? 'none',
        refusal: (level) => known.levels[level]?.refusal ?? null,
      },
      runs: { ...place.runs, location: (profile) => known.locations[profile] ?? 'remote', refusedArgs: () => [] },
    },
    [Symbol.asyncDispose]: async () => {
      child.disconnect()
      await exited
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
