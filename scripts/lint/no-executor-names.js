/** Two members that tell the type of all executors from any other union of strings. */
const markers = ['acp', 'external']

/**
 * A type of agent is not named outside its folder: what differs between types is a field of its record. Literals are
 * recognised by their types, so that `kind: 'command'` of something else is fine; in templates, which have no types,
 * by what they are compared with.
 */
export const noExecutorNames = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      named: "Ask executorInfos for what this depends on, not for the agent '{{name}}' by its name.",
    },
  },
  create(context) {
    const { parserServices } = context.sourceCode
    const { program, esTreeNodeToTSNodeMap } = parserServices
    const checker = program?.getTypeChecker()
    const report = (node) => context.report({ node, messageId: 'named', data: { name: String(node.value) } })
    const namesOf = (type) =>
      (type?.isUnion() ? type.types : []).flatMap((one) => (one.isStringLiteral() ? [one.value] : []))
    const isExecutor = (type, name) => {
      const names = namesOf(type)
      return markers.every((marker) => names.includes(marker)) && name !== 'person' && names.includes(name)
    }
    const typeOf = (node) => checker.getTypeAtLocation(esTreeNodeToTSNodeMap.get(node))
    /** What a literal is compared with, or chosen by. */
    const otherSide = ({ parent, ...node }) => {
      if (parent.type === 'BinaryExpression') return parent.left.range[0] === node.range[0] ? parent.right : parent.left
      return parent.type === 'SwitchCase' ? parent.parent.discriminant : null
    }
    const inScript = {
      Literal(node) {
        if (checker === undefined || typeof node.value !== 'string') return
        const other = otherSide(node)
        if (other !== null) {
          if (isExecutor(typeOf(other), node.value)) report(node)
          return
        }
        const expression = esTreeNodeToTSNodeMap.get(node)
        const isKey = node.parent.type === 'Property' && node.parent.key === node
        if (isKey || node.parent.type === 'TSLiteralType' || node.parent.type.startsWith('Import')) return
        if (isExecutor(checker.getContextualType(expression), node.value)) report(node)
      },
    }
    const isNamed = (node) =>
      (node.type === 'MemberExpression' && node.property.name === 'executor') ||
      (node.type === 'Identifier' && node.name === 'executor')
    const inTemplate = {
      Literal(node) {
        if (typeof node.value !== 'string') return
        const other = otherSide(node)
        if (other !== null && isNamed(other) && node.value !== 'person') report(node)
      },
    }
    return parserServices.defineTemplateBodyVisitor?.(inTemplate, inScript) ?? inScript
  },
}
