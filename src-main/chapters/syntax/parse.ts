import type { Node, Parser, Range, Tree, TreeCursor } from 'web-tree-sitter'

/** Thrown when a file takes longer than it may. */
export class TooSlow extends Error {}

/** A time limit that is asked again and again. */
export interface Deadline {
  /** Throws `TooSlow` if the time is over. */
  check(): void
}

export function createDeadline(ms: number): Deadline {
  const end = performance.now() + ms
  return {
    check: () => {
      if (performance.now() > end) throw new TooSlow()
    },
  }
}

/** A text, or the parts of it that are parsed. */
interface ParsedText {
  readonly text: string
  readonly windows?: Range[] | null
}

/** Parses a text and passes the tree to `use`, which must not keep it. Throws `TooSlow`. */
export function withTree<T>(
  parser: Parser,
  { text, windows = null }: ParsedText,
  deadline: Deadline,
  use: (tree: Tree) => T,
): T {
  deadline.check()
  let isLate = false
  const stopLate = (): boolean => {
    try {
      deadline.check()
    } catch {
      isLate = true
    }
    return isLate
  }
  const tree = parser.parse(text, null, {
    progressCallback: stopLate,
    ...(windows && { includedRanges: windows }),
  })
  if (!tree || isLate) {
    parser.reset()
    tree?.delete()
    throw new TooSlow()
  }
  try {
    return use(tree)
  } finally {
    tree.delete()
  }
}

/** Nodes whose inner white space is content, even where the grammar has no node for it. */
const withContent = /string|template|text|heredoc|regex|char|raw|quoted|literal|content|command_name|word/
const plainSpace = /^[ \t\r\n]*$/

/**
 * Returns syntax tree and tokens as a text that is equal for two texts that differ only in white space without a
 * meaning. Returns null for a text with syntax errors, whose tree proves nothing.
 */
export function describeTree(tree: Tree, text: string, deadline: Deadline): string | null {
  if (tree.rootNode.hasError) return null
  const parts: string[] = []
  const cursor = tree.walk()
  const describe = (): void => {
    const type = cursor.nodeType
    const [start, end] = [cursor.startIndex, cursor.endIndex]
    if (!cursor.gotoFirstChild()) {
      parts.push(`${type}\u0000${text.slice(start, end)}`)
      return
    }
    if (parts.length % 256 === 0) deadline.check()
    parts.push(`(${type}`)
    let last = start
    const addGap = (to: number): void => {
      const gap = text.slice(last, to)
      if (gap !== '' && (!plainSpace.test(gap) || withContent.test(type))) parts.push(`~${gap}`)
    }
    do {
      addGap(cursor.startIndex)
      last = cursor.endIndex
      describe()
    } while (cursor.gotoNextSibling())
    addGap(end)
    parts.push(')')
    cursor.gotoParent()
  }
  try {
    describe()
  } finally {
    cursor.delete()
  }
  return parts.join('\u0001')
}

/** A token in some lines. */
export interface Token {
  readonly type: string
  readonly text: string
  /** Text between the token before, or the start of the lines, and this one. */
  readonly space: string
}

/** The part of a tree in some lines. */
export interface TreeRange {
  readonly tokens: readonly Token[]
  /** Definitions that begin in these lines. */
  readonly names: readonly DefinedName[]
  /** Names of the definitions around these lines, outermost first. */
  readonly around: readonly string[]
}

interface DefinedName {
  readonly name: string
  /** Whether the definition is inside a function. */
  readonly is_local: boolean
}

const definitions = new Set(
  `function_declaration function_definition generator_function_declaration function_item function_signature_item
  function_statement method_definition method_declaration method singleton_method constructor_declaration
  class_declaration abstract_class_declaration class_definition class_specifier class class_statement module
  interface_declaration trait_declaration trait_item impl_item type_alias_declaration type_spec type_alias type_item
  type_definition enum_declaration enum_item enum_specifier struct_item struct_specifier struct_declaration
  record_declaration mod_item namespace_definition variable_declarator const_item static_item const_spec var_spec
  property_declaration public_field_definition field_definition macro_definition preproc_def preproc_function_def
  assignment`.split(/\s+/),
)
const functions = /function|method|arrow|lambda|closure|func_literal|constructor/

/** Reads the part of a tree in the lines from `first` to `last`, counted from 0. */
export function readRange(tree: Tree, text: string, [first, last]: readonly [number, number], deadline: Deadline) {
  const tokens: Token[] = []
  const names: DefinedName[] = []
  const around: string[] = []
  const cursor = tree.walk()
  let functionsAround = 0
  let visited = 0
  let lastEnd = startOfRow(text, first)
  const visit = (): void => {
    visited += 1
    if (visited % 256 === 0) deadline.check()
    const [from, to] = [cursor.startPosition.row, cursor.endPosition.row]
    if (to < first || from > last) return
    const type = cursor.nodeType
    const isDefinition = cursor.nodeIsNamed && definitions.has(type)
    if (isDefinition) {
      const name = nameOf(cursor)
      const isInside = from >= first && from <= last
      if (name !== null && isInside) names.push({ name, is_local: functionsAround > 0 })
      if (name !== null && from <= first && to >= last && (from < first || to > last)) around.push(name)
    }
    const isFunction = cursor.nodeIsNamed && functions.test(type)
    if (isFunction) functionsAround += 1
    if (cursor.gotoFirstChild()) {
      do visit()
      while (cursor.gotoNextSibling())
      cursor.gotoParent()
    } else if (cursor.endIndex > cursor.startIndex) {
      const [start, end] = [cursor.startIndex, cursor.endIndex]
      tokens.push({ type, text: text.slice(start, end), space: text.slice(lastEnd, start) })
      lastEnd = end
    }
    if (isFunction) functionsAround -= 1
  }
  try {
    visit()
  } finally {
    cursor.delete()
  }
  tokens.push({ type: 'end of lines', text: '', space: text.slice(lastEnd, startOfRow(text, last + 1)) })
  return { tokens, names, around } satisfies TreeRange
}

function startOfRow(text: string, row: number): number {
  let at = 0
  for (let left = row; left > 0 && at < text.length; left -= 1) {
    const end = text.indexOf('\n', at)
    at = end < 0 ? text.length : end + 1
  }
  return at
}

/** Returns the name that a definition gives; null for none, as of a pattern. */
function nameOf(cursor: TreeCursor): string | null {
  let node: Node | null = cursor.currentNode
  const { type } = node
  if (type === 'assignment') node = node.childForFieldName('left')
  else if (type === 'impl_item') node = node.childForFieldName('type')
  else {
    const named = node.childForFieldName('name') ?? node.namedChildren.find((child) => child?.type === 'function_name')
    node = named ?? node.childForFieldName('declarator')
    // C wraps the name: pointer, function and array declarators.
    while (node && !named && !/identifier$/.test(node.type)) node = node.childForFieldName('declarator')
  }
  return node && /^[\p{L}\p{N}_$:.?!-]{1,100}$/u.test(node.text) ? node.text : null
}
