import type { ChangeFacts } from '../facts.ts'
import { agentFiles, attributes, binary, ci, executable, large, migration } from './file-risks.ts'
import { ignoredNeeded, riskyPath } from './settings-risks.ts'
import { dependency, installScript } from './package-risks.ts'
import type { FoundRisk, RiskKind, RiskRule } from './risk.ts'
import { assertions, checks, testsRemoved, testsSkipped } from './test-risks.ts'
import { conflictMarkers, dynamicCode, hiddenText, secret } from './text-risks.ts'

/** A risk as readers see it. */
export interface Risk {
  readonly kind: RiskKind
  readonly level: FoundRisk['level']
  readonly text: string
  readonly path: string
  readonly line: number | null
  /** Id of the hunk. */
  readonly hunk: string
}

export const riskRules: Readonly<Record<RiskKind, RiskRule>> = {
  conflict_markers: conflictMarkers,
  secret,
  hidden_text: hiddenText,
  dynamic_code: dynamicCode,
  install_script: installScript,
  agent_files: agentFiles,
  ci,
  attributes,
  tests_removed: testsRemoved,
  tests_skipped: testsSkipped,
  assertions,
  checks,
  dependency,
  migration,
  executable,
  binary,
  large,
  ignored_needed: ignoredNeeded,
  risky_path: riskyPath,
}

/** Returns all risks, by kind and in the order of the files. */
export function findRisks(facts: ChangeFacts): readonly Risk[] {
  return (Object.keys(riskRules) as RiskKind[]).flatMap((kind) =>
    facts.files.flatMap((file) =>
      riskRules[kind](file, facts).map(({ level, text, line, hunk }): Risk => {
        return { kind, level, text, path: file.path, line, hunk: hunk.id }
      }),
    ),
  )
}
