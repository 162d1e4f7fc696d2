import type { CodeView } from '@pierre/diffs'
import type { DiffAnnotation } from './diff-notes.ts'

/** `fitting`: side by side, except files of which one side would be nearly empty. */
export type DiffLayout = 'unified' | 'split' | 'fitting'

/** The share of the longer side below which the shorter one isn't worth half of the width. */
const minShare = 0.1

/** Returns the layout of one file. */
export function layoutOfFile(
  layout: DiffLayout,
  file: { readonly additions: number; readonly deletions: number } | undefined,
): 'unified' | 'split' {
  if (layout !== 'fitting') return layout
  if (file === undefined) return 'split'
  const { additions, deletions } = file
  return Math.min(additions, deletions) <= minShare * Math.max(additions, deletions) ? 'unified' : 'split'
}

/**
 * Lets each file of a viewer have a layout of its own. The viewer gives all its files one layout, but each file reads
 * its options from an object of its own, where this one goes before the shared one.
 */
export function setLayoutByFile(view: CodeView<DiffAnnotation>, layoutOf: (path: string) => 'unified' | 'split'): void {
  const create: unknown = Reflect.get(view, 'createDiffOptions')
  if (typeof create !== 'function') throw new Error('The diff viewer has no options by file.')
  Reflect.set(view, 'createDiffOptions', (path: string) => {
    const options = Reflect.apply(create, view, [path]) as object
    return Object.defineProperty(options, 'diffStyle', { enumerable: true, get: () => layoutOf(path) })
  })
}
