import { expect, test } from 'vitest'
import { useIntegrations } from '../../../../src-renderer/stores/integrations.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import { integrationOf } from '../integrations/integration-fixture.ts'
import { onService } from '../renderer-app.ts'

const known = integrationOf()
const projectId = known.project_id

const storeWith = (reply: (name: string) => Promise<unknown>) => onService(reply, useIntegrations)

test('a project without an integration is told from one that nobody has asked for', async () => {
  const store = storeWith(() => Promise.reject(new ApiError({ code: 'not_found', message: 'There is none.' })))
  expect(store.of(projectId)).toBeUndefined()
  await store.load(projectId)
  expect(store.of(projectId)).toBeNull()
})

test('a service that does not answer is an error, not a project without integration', async () => {
  const store = storeWith(() => Promise.reject(new ApiError({ code: 'internal_error', message: 'Broken.' })))
  await expect(store.load(projectId)).rejects.toThrow('Broken.')
  expect(store.of(projectId)).toBeUndefined()
})

test('an answer that an event has overtaken does not bring the past back', async () => {
  const { promise, resolve } = Promise.withResolvers()
  const store = storeWith(() => promise)
  const asked = store.load(projectId)
  store.put(projectId, integrationOf({ enabled: false }))
  resolve(known)
  await asked
  expect(store.of(projectId)?.enabled).toBe(false)
})

test('what is deleted is gone, and what is known is asked for anew after the stream began again', async () => {
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
