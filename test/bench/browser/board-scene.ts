import type { Browser } from 'playwright-core'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Project } from '../../../src-shared/contract/projects.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { startProduct, type Product } from '../product.ts'
import type { Setting } from '../row.ts'
import { openBrowser, openPage, signIn, type BenchPage } from './board-page.ts'
import { makeTasks } from './many-tasks.ts'

/** A project of the service with so many tasks, in a browser, signed in. */
export interface BoardScene extends AsyncDisposable {
  readonly browser: Browser
  readonly product: Product
  readonly project: Project
  readonly repository: TestRepository
  readonly tasks: readonly TaskId[]
  /** Opens a page of its own on the board, or on a task's tab. */
  open(task?: { readonly id: string; readonly tab: string }): Promise<BenchPage>
}

/** Opens a page on the board, once it shows cards. */
export async function openBoard(scene: BoardScene): Promise<BenchPage> {
  const page = await scene.open()
  await page.page.locator('[data-card]').first().waitFor()
  return page
}

export async function openScene({ build }: Pick<Setting, 'build'>, tasks = 0): Promise<BoardScene> {
  await using opened = new AsyncDisposableStack()
  const repository = opened.use(await createTestRepository())
  const product = opened.use(await startProduct(build))
  const project = await product.client.call('projects.create', { name: 'Board', repo_path: repository.path })
  const ids = await makeTasks(product.client, project.id, tasks)
  const browser = opened.use(await openBrowser())
  const owned = opened.move()
  return {
    browser,
    product,
    project,
    repository,
    tasks: ids,
    open: async (task) => {
      const page = await openPage(browser)
      await signIn(page, product)
      await page.page.goto(`${product.url}/#/p/${project.id}${task ? `/t/${task.id}/${task.tab}` : ''}`)
      return page
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
