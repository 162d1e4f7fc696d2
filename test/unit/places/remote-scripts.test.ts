import { expect, test } from 'vitest'
import type { StartJob } from '../../../src-main/places/remote/start-job.ts'
import { createRemoteScripts } from '../../../src-main/places/remote/remote-scripts.ts'
import { beatOf, call, codeOf, createRig, runner, signal, type Rig } from '../../helpers/jobs-rig.ts'

function scriptsOn(rig: Rig) {
  const startJob: Pick<StartJob, 'start'> = {
    start: async ({ onLog: _, ...request }) => {
      const job = rig.offer('byHand', request.kind, { onLink: request.onLink })
      return { ...job, isOver: () => false, leave: async () => undefined }
    },
  }
  const scripts = createRemoteScripts(startJob as StartJob, { name: 'Far' }, () => 'none')
  const stop = new AbortController()
  const script = { command: 'true', cwd: '/work', env: {}, timeout_ms: 1_000 }
  return { run: () => scripts.run(script, { signal: stop.signal }), stop: () => stop.abort() }
}

test('ends a stopped step at once where its runner is out of contact, and leaves its end there to the runner', async () => {
  const rig = createRig()
  const { run, stop } = scriptsOn(rig)
  const result = run()
  await Promise.resolve()
  const offer = await rig.take()
  await rig.accept(offer)
  rig.wait(35)
  stop()
  expect(await result).toMatchObject({ exit_code: 130 })
  expect(await rig.jobs.beat(call(offer), beatOf(offer), { signal })).toMatchObject({ action: 'stop' })
})

test('ends a stopped step once its runner is out of contact', async () => {
  const rig = createRig()
  const { run, stop } = scriptsOn(rig)
  const result = run()
  await Promise.resolve()
  const offer = await rig.take()
  await rig.accept(offer)
  stop()
  rig.wait(35)
  expect(await result).toMatchObject({ exit_code: 130 })
  rig.wait(700)
  expect(await codeOf(() => rig.jobs.beat(call(offer), beatOf(offer), { signal }))).toBe('lease_lost')
})

test('says why a step has no result, and what to do', async () => {
  const rig = createRig()
  const { run } = scriptsOn(rig)
  const result = run()
  await Promise.resolve()
  rig.jobs.lose(runner, 'Far was removed.')
  expect(await result).toMatchObject({
    exit_code: 126,
    not_run:
      'Far did not run this to its end. Far was removed. Check that runner or choose another one in the project’s settings, then retry.',
  })
})
