import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { expect, test } from 'vitest'
import { pluginTraits } from '../../src-main/plugins/create-plugins.ts'
import { copyProject, projectRoot } from './project-copy.ts'

/** The folders that may name plugins. */
const home = 'src-main/plugins/'

/** The lines that name a plugin in quotes; other code asks for traits, which a new plugin can have too. */
async function pluginsNamed(root: string): Promise<string[]> {
  const name = new RegExp(`(['"\`])(?:${[...pluginTraits.keys()].join('|')})\\1`)
  const found: string[] = []
  for (const folder of ['src-main', 'src-shared', 'src-renderer']) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
    for (const entry of entries) {
      if (!entry.isFile() || !/\.(ts|vue)$/.test(entry.name)) continue
      const path = relative(root, join(entry.parentPath, entry.name)).split(sep).join('/')
      if (path.startsWith(home)) continue
      const lines = (await readFile(join(root, path), 'utf8')).split('\n')
      found.push(...lines.flatMap((line, at) => (name.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])))
    }
  }
  return found
}

test('names no plugin outside the plugins', async () => {
  expect(await pluginsNamed(projectRoot)).toEqual([])
})

test('finds a plugin that is named, also in a template', async () => {
  await using copy = await copyProject()
  await copy.plant('src-main/domain/planted.ts', "export const planted = (name: string) => name === 'run_merge'\n")
  await copy.plant(
    'src-renderer/components/Planted.vue',
    `<template><p v-if="plugin === 'run_ci_steps'" /></template>\n`,
  )
  await copy.plant(`${home}planted.ts`, "export const planted = 'run_merge'\n")
  expect((await pluginsNamed(copy.root)).map((line) => line.split(':')[0]).toSorted()).toEqual([
    'src-main/domain/planted.ts',
    'src-renderer/components/Planted.vue',
  ])
})
