import { parseAnswer } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import { label, type GitlabProject } from './gitlab-api.ts'
import { developer } from './project.ts'
import { GitlabMember } from './shapes.ts'

const keptMs = 600_000

/** Whether an account may push to the project; null: not told. */
export async function isMember(project: GitlabProject, user: number | undefined): Promise<boolean | null> {
  if (user === undefined) return null
  const { api, url, key, recall } = project
  return recall(
    `${key} member ${user}`,
    () => keptMs,
    async () => {
      const request = { url: `${url}/members/all/${user}`, accept: [404] }
      const answer = await unlessRefused(['forbidden'], () => api.send(request))
      if (answer === null) return null
      return answer.status !== 404 && parseAnswer(GitlabMember, answer.json, label).access_level >= developer
    },
  )
}
