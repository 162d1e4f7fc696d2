/**
 * A template unwraps refs by itself, but only those that the script has as names of their own. `board.columns.value`
 * there means that a composable's result was kept whole: destructure it at the top of the script instead. What the
 * template itself names (`v-for`, slot props, `$event`) may have a field `value`.
 */
export const noValueInTemplate = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { whole: 'Destructure `{{root}}` at the top of the script: a template needs no `.value`.' },
  },
  create(context) {
    const { defineTemplateBodyVisitor } = context.sourceCode.parserServices
    if (!defineTemplateBodyVisitor) return {}
    return defineTemplateBodyVisitor({
      "MemberExpression[computed=false][property.name='value']"(node) {
        const root = rootOf(node)
        if (root && root.name !== '$event' && isOfScript(root)) {
          context.report({ node, loc: node.loc, messageId: 'whole', data: { root: root.name } })
        }
      },
    })
  },
}

/** The name at the start of a chain of members; null where it starts with a call or a cast. */
function rootOf(node) {
  let inner = node
  while (inner.type === 'MemberExpression' || inner.type === 'ChainExpression' || inner.type === 'TSNonNullExpression')
    inner = inner.type === 'MemberExpression' ? inner.object : inner.expression
  return inner.type === 'Identifier' ? inner : null
}

/** Free in its expression, and not one of the template's own variables. */
function isOfScript(root) {
  let container = root.parent
  while (container.type !== 'VExpressionContainer') container = container.parent
  const reference = container.references.find(({ id }) => id === root)
  return reference !== undefined && reference.variable === null
}
