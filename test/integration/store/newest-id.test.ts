import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { newestId } from '../../../src-main/store/newest-id.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { openStore } from './open-store.ts'

test('finds the newest ID, so that a restart after the clock went back makes newer ones', async () => {
  await using open = await openStore()
  const id = v7({ msecs: Date.parse('2030-01-01T00:00:00.000Z') }) as TaskId
  open.task({ id })
  open.task()
  expect(newestId(open.database.db)).toBe(id)
})
