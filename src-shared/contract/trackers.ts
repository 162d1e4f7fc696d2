export const platforms = ['hosted', 'selfhosted', 'gitlab'] as const
export type Platform = (typeof platforms)[number]

/** A kind of issue tracker, as clients know it. How it is read is in `src-main/integrations/forges`. */
interface TrackerInfo {
  /** Display name. */
  readonly label: string
  /** The public one, whose issues' IDs contain no host; null where everyone runs their own. */
  readonly public: {
    /** Hosts of its pages, the usual one first. */
    readonly webHosts: readonly [string, ...string[]]
    readonly apiHost: string
  } | null
  /** The end of API addresses below a host of its own, which addresses of pages do not have. */
  readonly apiPath: string
  /** The paths of an issue's page below its repository's, the usual one first. */
  readonly issuePaths: readonly [string, ...string[]]
  /** Whether a repository may lie in a group in a group, so that its owner's name holds slashes. */
  readonly nestsOwners: boolean
  /** Where texts of issues find their files: below the tracker's root, or below their repository's page. */
  readonly files: { readonly path: string; readonly below: 'root' | 'repository' }
  /** An example of `base_url`. */
  readonly exampleUrl: string
  /** A usual name for the variable that holds its token. */
  readonly tokenName: string
  /** The user name that goes with the token when git asks over HTTP. */
  readonly gitUser: string
}

export const trackerInfos: { readonly [P in Platform]: TrackerInfo } = {
  hosted: {
    label: 'GitHub',
    public: { webHosts: ['github.com', 'www.github.com'], apiHost: 'api.github.com' },
    apiPath: '/api/v3',
    issuePaths: ['/issues/'],
    nestsOwners: false,
    files: { path: '/attachments/', below: 'root' },
    exampleUrl: 'https://api.github.com',
    tokenName: 'GITHUB_TOKEN',
    gitUser: 'x-access-token',
  },
  selfhosted: {
    label: 'Gitea or Forgejo',
    public: null,
    apiPath: '/api/v1',
    issuePaths: ['/issues/'],
    nestsOwners: false,
    files: { path: '/attachments/', below: 'root' },
    exampleUrl: 'https://git.example.com',
    tokenName: 'GITEA_TOKEN',
    gitUser: 'token',
  },
  gitlab: {
    label: 'GitLab',
    public: { webHosts: ['gitlab.com'], apiHost: 'gitlab.com' },
    apiPath: '/api/v4',
    issuePaths: ['/-/issues/', '/-/work_items/'],
    nestsOwners: true,
    files: { path: '/uploads/', below: 'repository' },
    exampleUrl: 'https://gitlab.com',
    tokenName: 'GITLAB_TOKEN',
    gitUser: 'oauth2',
  },
}

export const platformsText = '`hosted`: GitHub’s API; `selfhosted`: that of Gitea and Forgejo; `gitlab`: GitLab’s.'

/** The kind that an unknown host most likely is, because most trackers that people run themselves are of it. */
export const usualPlatform: Platform = 'selfhosted'

/** Returns the kind that a host most likely is: the public one's, or what its name says, as `gitlab.example.com`. */
export function platformOfHost(host: string): Platform {
  const named = platforms.find((platform) => host.includes(trackerInfos[platform].label.toLowerCase()))
  return publicPlatform(host) ?? named ?? usualPlatform
}

/** Returns the kind whose public tracker a host belongs to, by its pages or its API; null for other hosts. */
export function publicPlatform(host: string): Platform | null {
  return (
    platforms.find((platform) => {
      const known = trackerInfos[platform].public
      return known !== null && (known.apiHost === host || known.webHosts.includes(host))
    }) ?? null
  )
}

/** Returns the API of the public tracker of a kind; empty where everyone runs their own. */
export function publicApiOf(platform: Platform): string {
  const known = trackerInfos[platform].public
  return known === null ? '' : `https://${known.apiHost}`
}
