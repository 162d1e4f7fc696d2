import type { SecurityEventType, SecurityLogEntry } from '../../../../src-shared/contract/identity.ts'

const words: Readonly<Record<SecurityEventType, string>> = {
  registered: 'Made an account',
  registration_refused: 'Was refused an account',
  signed_in: 'Signed in',
  sign_in_failed: 'Failed to sign in',
  signed_out: 'Signed out',
  session_ended: 'Ended a session',
  refresh_token_reused: 'Used a token twice, so its session was ended',
  password_changed: 'Changed the password',
  password_change_failed: 'Gave a wrong current password',
  reset_created: 'Made a reset code',
  reset_used: 'Used a reset code',
  token_created: 'Made a token',
  token_revoked: 'Revoked a token',
  invite_created: 'Invited someone',
  invite_used: 'Used an invite',
  invite_deleted: 'Took an invite back',
  setup_code_void: 'Ten wrong setup codes: it is void',
  admin_granted: 'Made an administrator',
  admin_revoked: 'Took the administrator’s rights',
  member_added: 'Added a member',
  member_changed: 'Changed a member’s role',
  member_removed: 'Removed a member',
  exposed: 'Started where others can reach it',
  run_refused: 'Used another’s sign-in from a run',
}

/** Returns the beginning of a sentence about an entry of the security log. */
export function securityWords({ type, details }: Pick<SecurityLogEntry, 'type' | 'details'>): string {
  const name = details['name']
  if (type === 'session_ended' && details['all_others'] === true) return 'Ended all other sessions'
  return typeof name === 'string' ? `${words[type]}: ${name}` : words[type]
}
