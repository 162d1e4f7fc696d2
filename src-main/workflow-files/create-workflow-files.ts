import { randomUUID } from 'node:crypto'
import { copyFile, constants, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import type { PluginChecks } from '../domain/workflow/validate.ts'
import { brokenTemplate, formatTemplate, maxFileBytes, parseTemplate, type TemplateContent } from './template-file.ts'

/** The shipped templates. */
export const shippedTemplates = ['default', 'user-approval-review', 'no-user-approval', 'pull-request'] as const

type TemplateFile = TemplateContent & { readonly name: string; readonly builtin: boolean }

/** The folder of workflow templates. Every call reads it, so that edits apply at once. */
export interface WorkflowFiles {
  list(): Promise<readonly TemplateFile[]>
  /** Returns null if there is no such template. */
  get(name: string): Promise<TemplateFile | null>
  /** Writes a checked template atomically: a reader sees the old or the new file. */
  put(name: string, description: string, definition: WorkflowDefinition): Promise<void>
  /** Deletes a template; resolves to whether there was one. */
  delete(name: string): Promise<boolean>
}

export interface WorkflowFilesOptions {
  /** The folder that people edit. */
  readonly dir: string
  readonly shippedDir: string
  readonly plugins: PluginChecks
}

const fileName = /^([a-z0-9][a-z0-9_-]{0,63})\.(yaml|yml)$/
const leftOver = /^\.[a-z0-9][a-z0-9_-]{0,63}\.[0-9a-f-]{36}\.tmp$/

/** Opens the folder: fills a new one with every shipped template, adds only a missing `default` to an old one. */
export async function openWorkflowFiles({ dir, shippedDir, plugins }: WorkflowFilesOptions): Promise<WorkflowFiles> {
  await seed(dir, shippedDir)
  const read = async (name: string, file: string): Promise<TemplateFile> => ({
    ...(await readTemplate(join(dir, file), plugins)),
    name,
    builtin: (shippedTemplates as readonly string[]).includes(name),
  })
  return {
    list: async () => {
      const files = await filesIn(dir)
      const templates: TemplateFile[] = []
      // Sequential, so that a folder of long files does not fill the memory.
      for (const [name, file] of files) templates.push(await read(name, file))
      return templates
    },
    get: async (name) => {
      const file = (await filesIn(dir)).get(name)
      return file === undefined ? null : read(name, file)
    },
    put: async (name, description, definition) => {
      await mkdir(dir, { recursive: true })
      const temporary = join(dir, `.${name}.${randomUUID()}.tmp`)
      try {
        await writeDurably(temporary, formatTemplate(description, definition))
        await rename(temporary, join(dir, `${name}.yaml`))
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
      await rm(join(dir, `${name}.yml`), { force: true })
    },
    delete: async (name) => {
      const known = (await filesIn(dir)).has(name)
      await rm(join(dir, `${name}.yaml`), { force: true })
      await rm(join(dir, `${name}.yml`), { force: true })
      return known
    },
  }
}

async function seed(dir: string, shippedDir: string): Promise<void> {
  const isNew = (await mkdir(dir, { recursive: true })) !== undefined
  for (const entry of await readdir(dir)) if (leftOver.test(entry)) await rm(join(dir, entry), { force: true })
  const present = await filesIn(dir)
  for (const name of isNew ? shippedTemplates : (['default'] as const)) {
    if (present.has(name)) continue
    try {
      await copyFile(join(shippedDir, `${name}.yaml`), join(dir, `${name}.yaml`), constants.COPYFILE_EXCL)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
  }
}

/** Returns the template files sorted by name; a `.yaml` wins over a `.yml` of the same name. */
async function filesIn(dir: string): Promise<ReadonlyMap<string, string>> {
  let entries: string[]
  try {
    entries = await readdir(dir)
  } catch (error) {
    // If a person removes the folder while the service runs, there are no templates until the next start.
    if (hasCode(error, 'ENOENT')) return new Map()
    throw error
  }
  const files = new Map<string, string>()
  for (const entry of entries.sort()) {
    const name = fileName.exec(entry)?.[1]
    if (name !== undefined && !files.has(name)) files.set(name, entry)
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Reads a template; reports anything but a regular file of allowed size as broken. Reading a pipe would never end. */
async function readTemplate(path: string, plugins: PluginChecks): Promise<TemplateContent> {
  let text: string
  try {
    const { size, isFile } = await statOf(path)
    if (!isFile) return brokenTemplate('This isn’t a file.')
    if (size > maxFileBytes) return brokenTemplate(`The file is longer than ${maxFileBytes} bytes.`)
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    return brokenTemplate(`The file can't be read (${String(error.code)}).`)
  }
  return parseTemplate(text, plugins)
}

async function statOf(path: string): Promise<{ readonly size: number; readonly isFile: boolean }> {
  const found = await stat(path)
  return { size: found.size, isFile: found.isFile() }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
