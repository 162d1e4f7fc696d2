import { ensureSyntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'

/**
 * Returns the range of the value at a path (`states.3.label`) in the JSON of an editor, or of the
 * longest existing prefix.
 */
export function jsonRange(state: EditorState, path: string): { readonly from: number; readonly to: number } {
  const tree = ensureSyntaxTree(state, state.doc.length, 200)
  let node = tree?.topNode.firstChild ?? null
  for (const step of path === '' ? [] : path.split('.')) {
    const inner = node === null ? null : childAt(state, node, step)
    if (inner === null) break
    node = inner
  }
  return node === null ? { from: 0, to: Math.min(1, state.doc.length) } : { from: node.from, to: node.to }
}

type Node = NonNullable<ReturnType<typeof ensureSyntaxTree>>['topNode']

function childAt(state: EditorState, node: Node, step: string): Node | null {
  if (node.name === 'Array') {
    const values = []
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.name !== '[' && child.name !== ']' && child.name !== ',') values.push(child)
    }
    return values[Number(step)] ?? null
  }
  if (node.name !== 'Object') return null
  for (const property of node.getChildren('Property')) {
    const name = property.getChild('PropertyName')
    if (name && state.sliceDoc(name.from, name.to) === JSON.stringify(step)) return property.lastChild
  }
  return null
}

/** Returns the index of the state at a position; -1 between states, null outside the list. */
export function stateAt(state: EditorState, position: number): number | null {
  const tree = ensureSyntaxTree(state, state.doc.length, 200)
  const states = tree?.topNode.firstChild ? childAt(state, tree.topNode.firstChild, 'states') : null
  if (states === null || states.name !== 'Array') return null
  return states.getChildren('Object').findIndex((each) => each.from <= position && position <= each.to)
}
