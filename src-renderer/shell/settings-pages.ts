import {
  Bell,
  Bot,
  CircleDot,
  CircleUserRound,
  ClipboardCheck,
  FolderGit2,
  GitMerge,
  HardDrive,
  Keyboard,
  LayoutTemplate,
  Lightbulb,
  MessageSquareText,
  Monitor,
  Plug,
  Server,
  ShieldCheck,
  SunMoon,
  Timer,
  UserRoundPlus,
  Users,
  Waypoints,
  Webhook,
} from '@lucide/vue'

/** The link to the agents, which have a screen of their own. */
export const agentsPage = { id: 'agents', href: '#/agents', label: 'Agents', icon: Bot } as const

/** The settings pages of this machine and its users, in order. */
export const appPages = [
  { id: 'api', href: '#/settings/api', label: 'API and MCP', icon: Plug },
  { id: 'storage', href: '#/settings/storage', label: 'Storage', icon: HardDrive },
  { id: 'runners', href: '#/settings/runners', label: 'Runners', icon: Server },
  { id: 'account', href: '#/settings/account', label: 'Account', icon: CircleUserRound },
  { id: 'people', href: '#/settings/people', label: 'People', icon: Users },
  { id: 'notifications', href: '#/settings/notifications', label: 'Notifications', icon: Bell },
  { id: 'appearance', href: '#/settings/appearance', label: 'Appearance', icon: SunMoon },
  { id: 'keyboard', href: '#/settings/keyboard', label: 'Keyboard', icon: Keyboard },
  // A browser has no desktop settings.
  ...(window.copse ? [{ id: 'desktop', href: '#/settings/desktop', label: 'Desktop', icon: Monitor } as const] : []),
] as const

const projectPageList = [
  { id: 'repositories', label: 'Repositories', icon: FolderGit2 },
  { id: 'workflow', label: 'Workflow', icon: Waypoints },
  { id: 'issues', label: 'Issues and pull requests', icon: CircleDot },
  { id: 'hooks', label: 'Hooks', icon: Webhook },
  { id: 'review', label: 'Review and checks', icon: ClipboardCheck },
  { id: 'templates', label: 'Task templates', icon: LayoutTemplate },
  { id: 'containment', label: 'Containment', icon: ShieldCheck },
  { id: 'where', label: 'Where agents run', icon: Server },
  { id: 'limits', label: 'Limits', icon: Timer },
  { id: 'prompts', label: 'Prompts', icon: MessageSquareText },
  { id: 'knowledge', label: 'Knowledge', icon: Lightbulb },
  { id: 'members', label: 'Members', icon: UserRoundPlus },
  { id: 'merge', label: 'Merge', icon: GitMerge },
] as const

export type ProjectPage = Exclude<(typeof projectPageList)[number]['id'], 'workflow'>

/** Returns the settings pages of a project; its workflow has a screen of its own. */
export const projectPages = (projectId: string) =>
  projectPageList.map((page) => ({
    ...page,
    href: page.id === 'workflow' ? `#/p/${projectId}/workflow` : `#/p/${projectId}/settings/${page.id}`,
  }))

/** Returns whether the page belongs to a project: old addresses name no project. */
export const isOfProject = (section: string): section is ProjectPage =>
  section !== 'workflow' && projectPageList.some(({ id }) => id === section)
