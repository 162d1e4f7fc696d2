/**
 * A function may have so many lines of its own: those of the functions inside it are theirs, and
 * blank lines and comments count for nobody. A factory that returns twenty short methods is not
 * long; a method of ninety lines is.
 */
export const maxOwnLines = {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'object', properties: { max: { type: 'integer' } }, additionalProperties: false }],
    messages: { tooLong: 'This function has {{lines}} lines of its own; {{max}} are allowed. Give its parts names.' },
  },
  create(context) {
    const max = context.options[0]?.max ?? 60
    const { lines } = context.sourceCode
    const comments = new Set()
    for (const { loc } of context.sourceCode.getAllComments()) {
      for (let line = loc.start.line; line <= loc.end.line; line += 1) {
        const outside = line === loc.start.line ? lines[line - 1].slice(0, loc.start.column) : ''
        const after = line === loc.end.line ? lines[line - 1].slice(loc.end.column) : ''
        if (outside.trim() === '' && after.trim() === '') comments.add(line)
      }
    }
    const open = []
    const enter = () => open.push(0)
    const leave = (node) => {
      const inner = open.pop()
      let all = 0
      for (let line = node.loc.start.line; line <= node.loc.end.line; line += 1) {
        if (lines[line - 1].trim() !== '' && !comments.has(line)) all += 1
      }
      const own = all - inner
      // The line on which an inner function starts is its outer one's too.
      if (open.length > 0) open[open.length - 1] += Math.max(0, all - 1)
      if (own > max) context.report({ node, messageId: 'tooLong', data: { lines: own, max } })
    }
    const kinds = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
    return Object.fromEntries(
      kinds.flatMap((kind) => [
        [kind, enter],
        [`${kind}:exit`, leave],
      ]),
    )
  },
}
