import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { WorkflowTemplate } from '../../../src-shared/contract/workflow-templates.ts'
import { definitionWarnings } from '../../domain/workflow/read-definition.ts'
import type { ApiParts, Handlers, TemplateFile } from '../context.ts'
import { unwrap, findProject, throwNotFound } from '../find.ts'
import { definitionOf, definitionText, findTemplate } from '../workflow-update.ts'

type Names = 'templates.list' | 'templates.get' | 'templates.put' | 'templates.delete' | 'templates.apply'

export function createTemplateHandlers(parts: ApiParts): Handlers<Names> {
  const { templates, feed, engine } = parts
  return {
    'templates.list': async () => ({ items: (await templates.list()).map(toTemplate) }),
    'templates.get': async ({ name }) => toTemplate(await findTemplate(parts, name)),
    'templates.put': async ({ name, description, definition }) => {
      await templates.put(name, description ?? '', definitionOf(parts, definition))
      return { ...toTemplate(await findTemplate(parts, name)), warnings: definitionWarnings(definition) }
    },
    'templates.delete': async ({ name }) => {
      if (name === 'default') {
        const message = 'The default template stays. Put another definition in its place if you want another.'
        throw new ApiError({ code: 'template_protected', message })
      }
      if (!(await templates.delete(name))) throwNotFound('workflow_template')
      return null
    },
    'templates.apply': async ({ name, project_id }) => {
      const text = definitionText(await findTemplate(parts, name))
      const updated = feed.commit((tx) => parts.changeWorkflow(tx, findProject(tx, project_id), text))
      engine.scheduler.startQueued()
      return engine.views.project(unwrap(updated))
    },
  }
}

function toTemplate({ name, description, builtin, definition, issues }: TemplateFile): WorkflowTemplate {
  return { name, description, builtin, definition, error: issues[0]?.message ?? null }
}
