import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { expect, test } from 'vitest'
import { pluginTraits } from '../../src-main/plugins/create-plugins.ts'
import { platforms } from '../../src-shared/contract/trackers.ts'
import { copyProject, projectRoot } from './project-copy.ts'

/** The folder that may name plugins; other code asks for traits, which a new plugin can have too. */
const pluginHome = 'src-main/plugins/'
const pluginNames = { names: [...pluginTraits.keys()], home: pluginHome }
/** What may name kinds of trackers; other code asks for their records, which a new kind has too. */
const trackerNames = {
  names: platforms,
  home: /^src-shared\/contract\/trackers\.ts$|^src-main\/integrations\/forges\//,
}

interface Names {
  readonly names: readonly string[]
  readonly home: string | RegExp
}

/** Returns the lines outside its home that have a name in quotes. */
async function linesNaming(root: string, { names, home }: Names): Promise<string[]> {
  const name = new RegExp(`(['"\`])(?:${names.join('|')})\\1`)
  const found: string[] = []
  for (const folder of ['src-main', 'src-shared', 'src-renderer']) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
    for (const entry of entries) {
      if (!entry.isFile() || !/\.(ts|vue)$/.test(entry.name)) continue
      const path = relative(root, join(entry.parentPath, entry.name)).split(sep).join('/')
      if (typeof home === 'string' ? path.startsWith(home) : home.test(path)) continue
      const lines = (await readFile(join(root, path), 'utf8')).split('\n')
      found.push(...lines.flatMap((line, at) => (name.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])))
    }
  }
  return found
}

test('names no plugin outside the plugins', async () => {
  expect(await linesNaming(projectRoot, pluginNames)).toEqual([])
})

test('finds a plugin that is named, also in a template', async () => {
  await using copy = await copyProject()
  await copy.plant('src-main/domain/planted.ts', "export const planted = (name: string) => name === 'run_merge'\n")
  await copy.plant(
    'src-renderer/components/Planted.vue',
    `<template><p v-if="plugin === 'run_ci_steps'" /></template>\n`,
  )
  await copy.plant(`${pluginHome}planted.ts`, "export const planted = 'run_merge'\n")
  expect((await linesNaming(copy.root, pluginNames)).map((line) => line.split(':')[0]).toSorted()).toEqual([
    'src-main/domain/planted.ts',
    'src-renderer/components/Planted.vue',
  ])
})

test('names no tracker outside its record and its forge', async () => {
  expect(await linesNaming(projectRoot, trackerNames)).toEqual([])
})

test('finds a tracker that is named', async () => {
  await using copy = await copyProject()
  await copy.plant('src-renderer/model/planted.ts', "export const planted = (kind: string) => kind === 'hosted'\n")
  await copy.plant('src-main/integrations/forges/planted.ts', "export const planted = 'hosted'\n")
  expect(await linesNaming(copy.root, trackerNames)).toEqual([
    expect.stringMatching(/^src-renderer\/model\/planted\.ts:1/),
  ])
})
