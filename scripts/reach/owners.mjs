import ts from 'typescript'

/**
 * What a piece of code belongs to: `{ name, function: true }`, the nearest function with a name around it, as V8 counts
 * calls; or `{ name, function: false }`, a name that the module declares (`''`: a statement that declares none).
 * A component's set-up is the function `setup`.
 */
export function createOwners(file, text) {
  const isComponent = file.endsWith('.vue')
  const script = isComponent ? scriptOnly(text) : text
  const source = ts.createSourceFile(file.replace(/\.vue$/, '.ts'), script, ts.ScriptTarget.Latest, true)
  return {
    /** Owners of the code on these lines; comments and types have none. */
    ofLines: (lines) => {
      const found = owners(source, isComponent, (node) => touches(source, node, lines))
      // A changed tag or style of a component.
      if (isComponent && hasOther(text, script, lines)) found.push({ name: 'setup', function: true })
      return found
    },
    /** Owners of the code that names `name`. */
    ofName: (name) => {
      const found = owners(source, isComponent, (node) => !ts.isIdentifier(node) || node.text === name, true)
      if (isComponent && new RegExp(`\\b${name}\\b`).test(text)) found.push({ name: 'setup', function: true })
      return found
    },
    /** Imports as `{ from, names: [[name, local name]] }`; `*` stands for everything. Exports from elsewhere, too. */
    imports: () => source.statements.flatMap(importOf),
  }
}

/** The script's lines at their place, the rest empty. */
function scriptOnly(text) {
  let kept = ''
  let at = 0
  for (const match of text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)) {
    const start = match.index + match[0].indexOf('>') + 1
    kept += text.slice(at, start).replace(/[^\n]/g, ' ') + match[1]
    at = start + match[1].length
  }
  return kept + text.slice(at).replace(/[^\n]/g, ' ')
}

function hasOther(text, script, lines) {
  const kept = script.split('\n')
  return text.split('\n').some((line, index) => lines.has(index + 1) && line.trim() !== '' && kept[index].trim() === '')
}

function touches(source, node, lines) {
  const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
  const last = source.getLineAndCharacterOfPosition(node.getEnd()).line + 1
  for (let line = first; line <= last; line++) if (lines.has(line)) return true
  return false
}

function owners(source, isComponent, isMeant, identifiersOnly = false) {
  const found = new Map()
  const visit = (node, owner) => {
    if (ts.isJSDoc(node) || ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node))
      return
    if (ts.isImportDeclaration(node)) {
      if (!identifiersOnly && isMeant(node)) {
        const names = importOf(node).flatMap(({ names }) => names.map(([, local]) => local))
        for (const name of names) found.set(`import ${name}`, { name, function: false })
      }
      return
    }
    const inner = ownerOf(node, owner)
    const children = node.getChildren(source)
    if (children.length === 0) {
      const isCode = identifiersOnly
        ? ts.isIdentifier(node)
        : !isPunctuation(node) && node.kind !== ts.SyntaxKind.EndOfFileToken
      if (isCode && isMeant(node)) found.set(`${inner.function} ${inner.name}`, inner)
      return
    }
    if (!identifiersOnly && !isMeant(node)) return
    for (const child of children) visit(child, inner)
  }
  const top = isComponent ? { name: 'setup', function: true } : null
  for (const statement of source.statements) {
    if (top !== null) visit(statement, top)
    else for (const name of declaredNames(statement)) visit(statement, { name, function: false })
  }
  return [...found.values()]
}

/** Never alone on a line whose change matters. */
const isPunctuation = ({ kind }) =>
  (kind >= ts.SyntaxKind.FirstPunctuation && kind <= ts.SyntaxKind.LastPunctuation) || kind === ts.SyntaxKind.SyntaxList

/** As V8 names functions. */
function ownerOf(node, owner) {
  const only = ts.isVariableStatement(node) ? node.declarationList.declarations : [node]
  // The words that declare a function are its own.
  if (only.length === 1 && isFunction(only[0].initializer)) return ownerOf(only[0].initializer, owner)
  if (!isFunction(node) && !ts.isClassLike(node)) return owner
  const name = functionName(node)
  return name === null ? owner : { name, function: true }
}

const isFunction = (node) => node !== undefined && ts.isFunctionLike(node)

function functionName(node) {
  if (ts.isConstructorDeclaration(node)) return functionName(node.parent)
  if (node.name !== undefined) return textOf(node.name)
  let { parent } = node
  while (ts.isParenthesizedExpression(parent) || ts.isAsExpression(parent) || ts.isSatisfiesExpression(parent))
    parent = parent.parent
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent))
    return textOf(parent.name)
  if (ts.isBinaryExpression(parent) && ts.isPropertyAccessExpression(parent.left)) return parent.left.name.text
  return null
}

function textOf(name) {
  if (ts.isIdentifier(name) || ts.isPrivateIdentifier(name) || ts.isStringLiteralLike(name)) return name.text
  return ts.isComputedPropertyName(name) ? `[${name.expression.getText()}]` : null
}

function declaredNames(statement) {
  if (ts.isVariableStatement(statement)) {
    const names = statement.declarationList.declarations.flatMap(({ name }) => boundNames(name))
    return names.length > 0 ? names : ['']
  }
  if (statement.name !== undefined && ts.isIdentifier(statement.name)) return [statement.name.text]
  return ['']
}

function boundNames(name) {
  if (ts.isIdentifier(name)) return [name.text]
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element.name) : []))
}

function importOf(statement) {
  if (ts.isImportDeclaration(statement)) {
    const from = statement.moduleSpecifier.text
    const clause = statement.importClause
    if (clause === undefined) return [{ from, names: [['*', '']] }]
    const { namedBindings } = clause
    const names = clause.name === undefined ? [] : [['default', clause.name.text]]
    if (namedBindings !== undefined && ts.isNamespaceImport(namedBindings)) names.push(['*', namedBindings.name.text])
    else
      for (const one of namedBindings?.elements ?? []) names.push([(one.propertyName ?? one.name).text, one.name.text])
    return [{ from, names, types: clause.isTypeOnly }]
  }
  if (ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined) {
    const from = statement.moduleSpecifier.text
    if (statement.exportClause === undefined || !ts.isNamedExports(statement.exportClause))
      return [{ from, names: [['*', '*']], exported: true }]
    const names = statement.exportClause.elements.map((one) => [(one.propertyName ?? one.name).text, one.name.text])
    return [{ from, names, exported: true }]
  }
  return []
}
