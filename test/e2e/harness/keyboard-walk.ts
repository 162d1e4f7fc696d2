import type { Page } from 'playwright-core'
import type { Client } from '../../../src-shared/client/create-client.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { openApp, type AppKind } from './both-apps.ts'
import { keyboardOf, type Keyboard, type Sight } from './keyboard.ts'

/** The app for a person with only a keyboard. */
export interface KeyboardWalk extends AsyncDisposable {
  readonly client: Client
  readonly repository: TestRepository
  /** For reloads only; everything else is done by keys. */
  readonly page: Pick<Page, 'reload'>
  readonly keys: Keyboard
  readonly see: Keyboard['see']
  card(title: string): Sight
  column(name: RegExp): Sight
  /** Opens a project by the palette, which lists all. */
  goTo(project: string): Promise<void>
}

/** Opens the built app beside a repository of its own. */
export async function startWalk(kind: AppKind): Promise<KeyboardWalk> {
  await using open = new AsyncDisposableStack()
  const repository = open.use(await createTestRepository({ files: { 'a.txt': 'one\n' } }))
  const { client, page } = open.use(await openApp(kind))
  const keys = keyboardOf(page)
  const { see } = keys
  const owned = open.move()
  return {
    client,
    repository,
    page,
    keys,
    see,
    card: (title) => see.locator('[data-card]').filter({ hasText: title }),
    column: (name) => see.getByRole('region', { name }),
    goTo: async (project) => {
      await keys.press('Control+k')
      await keys.on(see.getByRole('dialog', { name: 'Command palette' }))
      await keys.type(project)
      await see.locator('[role="option"][data-highlighted]').filter({ hasText: project }).waitFor()
      await keys.press('Enter')
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
