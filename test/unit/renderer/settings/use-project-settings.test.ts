import { afterEach, expect, test, vi } from 'vitest'
import { useProjectSettings } from '../../../../src-renderer/features/settings/project/use-project-settings.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import { defaultProjectSettings, type ProjectSettings } from '../../../../src-shared/contract/projects.ts'
import { withService } from '../renderer-app.ts'

afterEach(() => void vi.unstubAllGlobals())

test('saves a change after the one under way, even if that was refused', async () => {
  const kept: ProjectSettings = { ...defaultProjectSettings }
  const sent: Partial<ProjectSettings>[] = []
  const first = Promise.withResolvers<null>()
  const answers = {
    'projects.get_settings': () => kept,
    'projects.update_settings': async ({
      project_id: _,
      ...change
    }: Partial<ProjectSettings> & { project_id: string }) => {
      sent.push(change)
      if (sent.length === 1) await first.promise
      if (change.max_concurrent_executions === 0) throw new ApiError({ code: 'validation_failed', message: 'Too few.' })
      return Object.assign(kept, change)
    },
  }
  const { used, end } = withService(answers, () => useProjectSettings(() => 'p1'))
  const saving = [
    used.save({ execution_timeout_seconds: 5_400 }),
    used.save({ max_concurrent_executions: 0 }),
    used.save({ stall_after_seconds: 30 }),
  ]
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  first.resolve(null)
  expect(await Promise.all(saving)).toEqual([true, false, true])
  expect(kept).toMatchObject({ execution_timeout_seconds: 5_400, stall_after_seconds: 30 })
  end()
})
