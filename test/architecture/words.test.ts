import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from '@vue/compiler-sfc'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { projectRoot } from './project-copy.ts'

/** Words that the product replaces: someone, no one, checks, a review limit, a run. */
const banned =
  /\b(somebody|nobody|everybody|anybody|whoever|anew|meanwhile|thrown away|throws? away|retry budget|CI steps?|any more|at work|goes on|go on|by itself|by themselves|one a line|for good|on its way|begun|waits for you)\b/i

interface Said {
  readonly line: number
  readonly text: string
}

/** File, line and text of what is said where `fits`. */
function saidWhere(fits: (text: string) => boolean): readonly string[] {
  const folders = ['src-main', 'src-renderer', 'src-shared']
  const listed = execFileSync('git', ['ls-files', '-z', ...folders], { cwd: projectRoot, encoding: 'utf8' }).split('\0')
  return listed
    .filter((file) => /\.(ts|vue)$/.test(file) && existsSync(join(projectRoot, file)))
    .flatMap((file) => {
      const text = readFileSync(join(projectRoot, file), 'utf8')
      return (file.endsWith('.vue') ? ofComponent(text) : ofScript(text))
        .filter((said) => fits(said.text))
        .map((said) => `${file}:${said.line} ${said.text.slice(0, 120)}`)
    })
}

test('uses none of the replaced words in texts for people', () => {
  expect(saidWhere((text) => banned.test(text))).toEqual([])
})

/** A name between straight quotation marks. */
const straightQuote = /(^|[\s(])"\$\{[^"<>=]*\}"(?=[\s.,:;)]|$)/u
/** What a machine reads. */
const machineText =
  /^src-(main\/(store|platform|server|hooks\/scripts|git\/commands|cli\/completion-scripts\.ts)|renderer\/.*\/(client-config|folder-path)\.ts)/

test('quotes names in one way in texts for people', () => {
  expect(
    saidWhere((text) => straightQuote.test(text.replaceAll(/`[^`]*`/g, ''))).filter((one) => !machineText.test(one)),
  ).toEqual([])
})

test('checks texts of scripts, templates and attributes', () => {
  const component = `<script setup lang="ts">
const one = \`Somebody \${name} waits\`
</script>
<template><p title="Nobody is here">Nobody {{ is ? 'whoever it is' : x }}</p></template>`
  expect(ofComponent(component).map(({ text }) => text)).toEqual([
    'Somebody ${name} waits',
    'Nobody is here',
    'Nobody ',
    'whoever it is',
  ])
})

/** The string literals of a script with more than one word; names and wire keys are ignored. */
function ofScript(text: string, from = 0): readonly Said[] {
  const source = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true)
  const said: Said[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return
    const words = wordsOf(node)
    if (words?.includes(' ') === true)
      said.push({ line: from + source.getLineAndCharacterOfPosition(node.getStart()).line + 1, text: words })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return said
}

function wordsOf(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  return ts.isTemplateExpression(node) ? node.getText().slice(1, -1) : null
}

type TemplateNode = NonNullable<
  NonNullable<ReturnType<typeof parse>['descriptor']['template']>['ast']
>['children'][number]

function ofComponent(text: string): readonly Said[] {
  const { descriptor } = parse(text)
  const scripts = [descriptor.script, descriptor.scriptSetup].flatMap((block) =>
    block ? ofScript(block.content, block.loc.start.line - 1) : [],
  )
  return [...scripts, ...(descriptor.template?.ast?.children ?? []).flatMap(ofNode)]
}

function ofNode(node: TemplateNode): readonly Said[] {
  const { line } = node.loc.start
  if (node.type === 2) return node.content.trim() === '' ? [] : [{ line, text: node.content }]
  if (node.type === 5) return ofExpression(node.content, line)
  if (node.type !== 1) return []
  const own = node.props.flatMap((prop) => {
    if (prop.type === 6) return prop.value ? [{ line: prop.loc.start.line, text: prop.value.content }] : []
    return prop.exp ? ofExpression(prop.exp, prop.loc.start.line) : []
  })
  return [...own, ...node.children.flatMap(ofNode)]
}

function ofExpression(node: { readonly loc: { readonly source: string } }, line: number): readonly Said[] {
  return /['"`]/.test(node.loc.source) ? ofScript(`(${node.loc.source})`, line - 1) : []
}
