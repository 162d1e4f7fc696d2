import { describe, expect, test } from 'vitest'
import { formatRoute, parseRoute, type Route } from '../../../../src-renderer/model/route.ts'

/** A route for every screen. */
const places: Readonly<Record<Route['screen'], Route>> = {
  home: { screen: 'home' },
  board: { screen: 'board', projectId: 'a/b', taskId: 'two', tab: 'changes' },
  all: { screen: 'all', taskId: 'two', tab: null },
  workflow: { screen: 'workflow', projectId: 'one' },
  project_settings: { screen: 'project_settings', projectId: 'one', section: 'hooks' },
  add_project: { screen: 'add_project' },
  inbox: { screen: 'inbox' },
  agents: { screen: 'agents' },
  settings: { screen: 'settings', section: 'api' },
}

describe('the address', () => {
  test.each(Object.values(places))('of $screen leads back to it', (route) => {
    expect(parseRoute(formatRoute(route))).toEqual(route)
  })

  test.each<[string, Route]>([
    ['#/', { screen: 'home' }],
    ['#/p/one', { screen: 'board', projectId: 'one', taskId: null, tab: null }],
    ['#/p/one/t/two', { screen: 'board', projectId: 'one', taskId: 'two', tab: null }],
    ['#/p/one/t/two/changes', { screen: 'board', projectId: 'one', taskId: 'two', tab: 'changes' }],
    ['#/all', { screen: 'all', taskId: null, tab: null }],
    ['#/all/t/two/review', { screen: 'all', taskId: 'two', tab: 'review' }],
    ['#/p/a%2Fb', { screen: 'board', projectId: 'a/b', taskId: null, tab: null }],
    ['#/add', { screen: 'add_project' }],
    ['#/agents', { screen: 'agents' }],
    ['#/p/one/settings', { screen: 'project_settings', projectId: 'one', section: null }],
    ['#/p/one/settings/hooks', { screen: 'project_settings', projectId: 'one', section: 'hooks' }],
    ['#/settings', { screen: 'settings', section: null }],
    ['#/settings/api', { screen: 'settings', section: 'api' }],
  ])('parses and formats %s', (hash, route) => {
    expect(parseRoute(hash)).toEqual(route)
    expect(formatRoute(route)).toBe(hash)
  })

  test.each(['', '#', '#code=123', '#/p', '#/p/%E0%A4%A', '#/nothing/here'])('treats %s as home', (hash) => {
    expect(parseRoute(hash)).toEqual({ screen: 'home' })
  })
})
