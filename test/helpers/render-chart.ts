import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { projectRoot } from './project-root.ts'

export const kubernetesFolder = join(projectRoot, 'packaging', 'kubernetes')
const templates = ['runners', 'claim', 'service', 'deployment']

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: unknown
  readonly rules?: unknown
  readonly subjects?: unknown
  readonly roleRef?: unknown
}

type Values = Readonly<Record<string, unknown>>

export const chartFile = (name: string): unknown =>
  parse(readFileSync(join(kubernetesFolder, 'chart', name), 'utf8')) as unknown

/**
 * Renders the chart as Helm does, for the few words that its templates use; throws at any other. `Values` are those of
 * values.yaml with `changes` in place of whole groups.
 */
export function renderChart(namespace: string, changes: Values = {}): string {
  const context = {
    Release: { Namespace: namespace },
    Values: { ...(chartFile('values.yaml') as Values), ...changes },
  }
  const read = (path: string): unknown => {
    let value: unknown = context
    for (const key of path.split('.').slice(1)) {
      if (typeof value !== 'object' || value === null || !(key in value)) throw new Error(`The chart has no ${path}.`)
      value = (value as Values)[key]
    }
    return value
  }
  const evaluate = (words: string): string => {
    const path = String.raw`(\.(?:Values|Release)(?:\.\w+)+)`
    const match = (pattern: string) => new RegExp(`^${pattern}$`).exec(words)
    const plain = match(path)
    if (plain) return String(read(plain[1] ?? ''))
    const json = match(`toJson ${path}`)
    if (json) return JSON.stringify(read(json[1] ?? ''))
    const quoted = match(`${path} \\| quote`)
    if (quoted) return JSON.stringify(read(quoted[1] ?? ''))
    const either = match(`${path} \\| default ${path}`)
    if (either) return String(read(either[1] ?? '') || read(either[2] ?? ''))
    throw new Error(`The chart uses “${words}”, which the tests can't render.`)
  }
  return templates
    .map((name) => readFileSync(join(kubernetesFolder, 'chart', 'templates', `${name}.yaml`), 'utf8'))
    .map((text) => text.replaceAll(/\{\{ (.*?) \}\}/g, (_, words: string) => evaluate(words)))
    .join('---\n')
}

/** Parses manifests; throws at the first error of YAML. */
export const parseManifests = (text: string): readonly Manifest[] =>
  parseAllDocuments(text, { strict: true, uniqueKeys: true }).map((document) => {
    if (document.errors[0]) throw document.errors[0]
    return document.toJS() as Manifest
  })
