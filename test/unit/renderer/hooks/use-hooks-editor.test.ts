import { afterEach, expect, test, vi } from 'vitest'
import { useHooksEditor } from '../../../../src-renderer/features/hooks/use-hooks-editor.ts'
import { newScript } from '../../../../src-renderer/model/hook-draft.ts'
import { useHookDrafts } from '../../../../src-renderer/stores/project/hook-drafts.ts'
import { useProjects } from '../../../../src-renderer/stores/project/projects.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import { LifecycleHooks } from '../../../../src-shared/contract/lifecycle-hooks.ts'
import { defaultProjectSettings } from '../../../../src-shared/contract/projects.ts'
import { withService } from '../renderer-app.ts'

afterEach(() => void vi.unstubAllGlobals())

const script = (command: string) => LifecycleHooks.parse({ before_work: [{ type: 'script', command }] })

/** Creates an editor of the project’s hooks and a service that stores them. `refuse`: the answer to the next save. */
async function edit() {
  const kept = { hooks: script('npm ci'), refuse: null as ApiError | null }
  const settings = () => ({ ...defaultProjectSettings, lifecycle_hooks: structuredClone(kept.hooks) })
  const answers = {
    'projects.get_settings': settings,
    'plugins.list': () => ({ items: [] }),
    'projects.update_settings': ({ lifecycle_hooks }: { lifecycle_hooks: LifecycleHooks }) => {
      if (kept.refuse) throw kept.refuse
      kept.hooks = lifecycle_hooks
      return settings()
    },
  }
  const { used, end } = withService(answers, () => ({
    editor: useHooksEditor('p1'),
    drafts: useHookDrafts(),
    projects: useProjects(),
  }))
  await vi.waitFor(() => expect(used.editor.draft.value).not.toBeNull())
  const first = () => {
    const hook = used.editor.draft.value?.before_work[0]
    if (hook?.type !== 'script') throw new Error('There is no script.')
    return hook
  }
  const type = (patch: { command?: string; timeout?: string }) => used.editor.change('before_work', first().key, patch)
  /** Lets the effects of a change run. */
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return { ...used, kept, first, type, settle, end }
}

test('keeps a draft until it is saved, then removes it from the device', async () => {
  const { editor, drafts, kept, type, settle, end } = await edit()
  expect(editor.changed.value).toBe(false)
  type({ command: 'npm ci --offline' })
  await settle()
  expect(editor.changed.value).toBe(true)
  expect(drafts.has('p1')).toBe(true)
  await editor.save()
  await settle()
  expect(kept.hooks.before_work).toMatchObject([{ command: 'npm ci --offline' }])
  expect(editor.changed.value).toBe(false)
  expect(drafts.has('p1')).toBe(false)
  end()
})

test('leaves the page and its focus alone when unchanged settings arrive', async () => {
  const { projects, first, settle, end } = await edit()
  const { key } = first()
  await projects.loadSettings('p1')
  await settle()
  expect(first().key).toBe(key)
  end()
})

test('has no change after the saved text is typed again', async () => {
  const { editor, drafts, type, settle, end } = await edit()
  type({ command: 'x' })
  await settle()
  type({ command: 'npm ci' })
  await settle()
  expect(editor.changed.value).toBe(false)
  expect(drafts.has('p1')).toBe(false)
  end()
})

test('shows a refusal at its field until the hook changes, and blocks saving', async () => {
  const { editor, kept, type, end } = await edit()
  type({ command: 'npm ci --offline' })
  const issues = [{ path: 'lifecycle_hooks.before_work.0.timeout_seconds', message: 'Too long for this service.' }]
  kept.refuse = new ApiError({ code: 'validation_failed', message: 'No.', details: { issues } })
  await editor.save()
  expect(editor.problems.value.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    'timeout_seconds: Too long for this service.',
  ])
  kept.refuse = null
  await editor.save()
  expect(kept.hooks.before_work).toMatchObject([{ command: 'npm ci' }])
  type({ timeout: '20' })
  expect(editor.problems.value).toEqual([])
  await editor.save()
  expect(kept.hooks.before_work).toMatchObject([{ command: 'npm ci --offline', timeout_seconds: 20 }])
  end()
})

test('shows a refusal of the whole', async () => {
  const { editor, kept, type, end } = await edit()
  type({ command: 'npm ci --offline' })
  kept.refuse = new ApiError({ code: 'owner_required', message: 'Only an owner may do this.' })
  await editor.save()
  expect(editor.failure.value).toBe('Only an owner may do this.')
  expect(editor.problems.value).toEqual([])
  end()
})

test('shows what others save at once, but never over a draft', async () => {
  const { editor, projects, kept, first, type, settle, end } = await edit()
  kept.hooks = script('theirs')
  await projects.loadSettings('p1')
  await settle()
  expect(first().command).toBe('theirs')
  type({ command: 'mine' })
  await settle()
  kept.hooks = script('theirs again')
  await projects.loadSettings('p1')
  await settle()
  expect(first().command).toBe('mine')
  expect(editor.overtaken.value).toBe(true)
  editor.begin()
  await settle()
  expect(first().command).toBe('theirs again')
  expect([editor.changed.value, editor.overtaken.value]).toEqual([false, false])
  end()
})

test('announces each hook that is added, copied, moved or removed', async () => {
  const { editor, first, end } = await edit()
  const added = newScript('before_work')
  editor.add('before_work', added)
  expect(editor.open.value).toBe(added.key)
  editor.change('before_work', added.key, { command: 'second' })
  editor.copy('before_work', first())
  const commands = () => editor.draft.value?.before_work.map((hook) => (hook.type === 'script' ? hook.command : ''))
  expect(commands()).toEqual(['npm ci', 'npm ci', 'second'])
  editor.move('before_work', added.key, 0)
  expect(commands()).toEqual(['second', 'npm ci', 'npm ci'])
  expect(editor.announcement.value).toBe('Now 1 of 3.')
  editor.remove('before_work', first())
  expect(commands()).toEqual(['npm ci', 'npm ci'])
  end()
})
