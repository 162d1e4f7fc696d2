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
  Lightbulb,
  MessageSquareText,
  Monitor,
  Plug,
  SunMoon,
  Timer,
  UserRoundPlus,
  Users,
  Webhook,
} from '@lucide/vue'

/** The pages of the settings that concern this machine and its people, in their order. */
export const machinePages = [
  { id: 'agents', href: '#/agents', label: 'Agents', icon: Bot },
  { id: 'api', href: '#/settings/api', label: 'API and MCP', icon: Plug },
  { id: 'storage', href: '#/settings/storage', label: 'Storage', icon: HardDrive },
  { id: 'account', href: '#/settings/account', label: 'Account', icon: CircleUserRound },
  { id: 'people', href: '#/settings/people', label: 'People', icon: Users },
  { id: 'notifications', href: '#/settings/notifications', label: 'Notifications', icon: Bell },
  { id: 'appearance', href: '#/settings/appearance', label: 'Appearance', icon: SunMoon },
  { id: 'keyboard', href: '#/settings/keyboard', label: 'Keyboard', icon: Keyboard },
  // In a browser there is nothing to set of it.
  ...(window.copse ? [{ id: 'desktop', href: '#/settings/desktop', label: 'Desktop', icon: Monitor } as const] : []),
] as const

/** Those of one project. */
export const projectPages = [
  { id: 'repositories', href: '#/settings/repositories', label: 'Repositories', icon: FolderGit2 },
  { id: 'issues', href: '#/settings/issues', label: 'Issue tracker', icon: CircleDot },
  { id: 'hooks', href: '#/settings/hooks', label: 'Hooks', icon: Webhook },
  { id: 'review', href: '#/settings/review', label: 'Review and CI', icon: ClipboardCheck },
  { id: 'limits', href: '#/settings/limits', label: 'Agents and time', icon: Timer },
  { id: 'prompts', href: '#/settings/prompts', label: 'Prompts', icon: MessageSquareText },
  { id: 'knowledge', href: '#/settings/knowledge', label: 'Knowledge', icon: Lightbulb },
  { id: 'members', href: '#/settings/members', label: 'Members', icon: UserRoundPlus },
  { id: 'merge', href: '#/settings/merge', label: 'Merge', icon: GitMerge },
] as const
