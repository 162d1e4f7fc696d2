import type { Component } from 'vue'
import type { Route } from '../model/route.ts'
import { lazyScreen } from './lazy-screen.ts'

type Screen = Route['screen']

/** Screens that the shell builds itself, because they have slots or pages or redirect. */
type BuiltByShell = 'home' | 'board' | 'all' | 'add_project' | 'settings' | 'project_settings'

interface ScreenView {
  readonly component: Component
  /** The data to load first: none, the list of projects, or the project in the address. */
  readonly needs: 'nothing' | 'projects' | 'project'
}

/** All other screens. A new variant of `Route` does not compile until it has an entry here and a title below. */
const views: Readonly<Record<Exclude<Screen, BuiltByShell>, ScreenView>> = {
  agents: { component: lazyScreen(() => import('../features/agents/AgentsScreen.vue')), needs: 'nothing' },
  inbox: { component: lazyScreen(() => import('./InboxView.vue')), needs: 'projects' },
  workflow: { component: lazyScreen(() => import('../features/workflow/WorkflowScreen.vue')), needs: 'project' },
}

export function viewOf(screen: Screen): ScreenView | null {
  return screen in views ? views[screen as keyof typeof views] : null
}

/** The window's title on each screen; `{project}` stands for the project's name. */
export const screenTitles: Readonly<Record<Screen, string>> = {
  home: '',
  add_project: '{project}',
  board: '{project} board',
  all: 'All projects',
  workflow: '{project} workflow',
  project_settings: '{project} settings',
  inbox: 'Inbox',
  agents: 'Agents',
  settings: 'Settings',
}
