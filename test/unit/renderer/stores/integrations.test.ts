import { expect, test } from 'vitest'
import { useIntegrations } from '../../../../src-renderer/stores/project/integrations.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import { integrationOf } from '../integrations/integration-fixture.ts'
import { onService } from '../renderer-app.ts'

const known = integrationOf()
const projectId = known.project_id

const storeWith = (reply: (name: string) => Promise<unknown>) => onService(reply, useIntegrations)

test('distinguishes a project without integration from one not loaded yet', async () => {
  const store = storeWith(() => Promise.reject(new ApiError({ code: 'not_found', message: 'There is none.' })))
  expect(store.of(projectId)).toBeUndefined()
  await store.load(projectId)
  expect(store.of(projectId)).toBeNull()
})

test('reports an unreachable service as an error', async () => {
  const store = storeWith(() => Promise.reject(new ApiError({ code: 'internal_error', message: 'Broken.' })))
  await expect(store.load(projectId)).rejects.toThrow('Broken.')
  expect(store.of(projectId)).toBeUndefined()
})

test('drops an answer that an event has overtaken', async () => {
  const { promise, resolve } = Promise.withResolvers()
  const store = storeWith(() => promise)
  const asked = store.load(projectId)
  store.put(projectId, integrationOf({ enabled: false }))
  resolve(known)
  await asked
  expect(store.of(projectId)?.enabled).toBe(false)
})

test('removes a deleted integration, and reloads known ones after a new stream', async () => {
  const asked: string[] = []
  const store = storeWith((name) => {
    asked.push(name)
    return Promise.resolve(known)
  })
  await store.reload()
  await store.load(projectId)
  await store.reload()
  await store.remove(projectId)
  expect(store.of(projectId)).toBeNull()
  expect(asked).toEqual(['integrations.get', 'integrations.get', 'integrations.delete'])
})
