import { ref, watch } from 'vue'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { OperationOutput } from '../../../src-shared/contract/operations.ts'
import { useDesktop } from '../../stores/device/desktop.ts'
import { useNavigation } from '../../stores/base/navigation.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { errorSentence } from '../../formatters/error-sentence.ts'

/** The problem with a folder and the command that fixes it. */
export interface FolderProblem {
  readonly title: string
  readonly text: string
  readonly command: string | null
}

/** Returns the error about a folder as a title, a sentence and perhaps a command. */
export function folderProblem(error: unknown): FolderProblem {
  const text = errorSentence(error)
  const { code, details } = error instanceof ApiError ? error : {}
  const command = typeof details?.command === 'string' ? details.command : null
  if (code === 'repository_has_no_commits') return { title: 'This repository has no commits yet', text, command }
  // Any other command, or none: the repository of another user, or not a folder.
  if (code === 'not_a_git_repository' && command === 'git init')
    return { title: 'This folder isn’t a git repository', text, command }
  return { title: 'Couldn’t open the folder', text, command }
}

/** Returns the steps from a folder to a project: choose, inspect, name, create. */
export function useChooseRepository() {
  const desktop = useDesktop()
  const navigation = useNavigation()
  const projects = useProjects()
  const path = ref('')
  const name = ref('')
  const found = ref<OperationOutput<'system.inspect_folder'> | null>(null)
  const problem = ref<FolderProblem | null>(null)
  const busy = ref(false)

  // The problem of an earlier path says nothing of this one.
  watch(path, () => (problem.value = null))

  async function attempt(work: () => Promise<void>): Promise<void> {
    busy.value = true
    problem.value = null
    try {
      await work()
    } catch (error) {
      problem.value = folderProblem(error)
    } finally {
      busy.value = false
    }
  }
  const inspect = (folder: string) =>
    attempt(async () => {
      if (folder.trim() === '') return
      const seen = await projects.inspectFolder(folder.trim())
      found.value = seen
      name.value = seen.name
    })
  // A folder dropped on the window, before or after this screen opened.
  watch(
    () => desktop.folder,
    () => {
      const folder = desktop.takeFolder()
      if (folder !== null) void inspect(folder)
    },
    { immediate: true },
  )
  async function choose(): Promise<void> {
    const folder = await desktop.pickFolder()
    if (folder !== null) await inspect(folder)
  }
  const create = () =>
    attempt(async () => {
      if (!found.value || name.value.trim() === '') return
      const from = navigation.route
      const project = await projects.create({
        name: name.value.trim(),
        repo_path: found.value.path,
        default_branch: found.value.default_branch,
      })
      await projects.prepare(project.id)
      // Don't navigate if the user has left this screen.
      if (navigation.route === from) navigation.openProject(project.id)
    })
  function forget(): void {
    found.value = null
    problem.value = null
  }
  return { path, name, found, problem, busy, inWindow: desktop.present, choose, inspect, create, forget }
}
