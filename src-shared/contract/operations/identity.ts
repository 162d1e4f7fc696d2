import { z } from 'zod'
import {
  ActiveSession,
  AuthOptions,
  Invite,
  Password,
  PersonalAccessToken,
  SecurityLogEntry,
  Session,
  TokenScope,
  User,
} from '../identity.ts'
import { InviteId, SessionId, Timestamp, TokenId, UserId } from '../ids.ts'
import { get, post, patch, del, list, page, paginated } from '../operation.ts'
import { shownName } from '../shown-name.ts'

/** A code that was handed out: an invite, a setup code or a reset code. */
const code = z.string().min(1).max(200)

const remember = z
  .boolean()
  .optional()
  .describe(
    'Also sets the cookie `svc_session`, with which `auth.resume` continues this session for 30 days. Off by default.',
  )

export const identityOperations = {
  'auth.register': post(
    '/auth/register',
    'public',
    'Create an account; the first one becomes admin and owns what has no owner. SVC_REGISTRATION and how the service was started decide who can; with an invite (where exposed, for the first account, the setup code) anyone can.',
    z.object({
      email: z.email().max(254),
      password: Password,
      display_name: shownName().min(1).max(100),
      invite: code
        .describe('The code of an invite, or the setup code. One that is given is always checked.')
        .optional(),
      remember,
    }),
    Session,
    201,
    ['registration_closed', 'invite_required', 'invite_invalid', 'other_user', 'email_taken', 'rate_limited'],
  ),
  'auth.login': post(
    '/auth/login',
    'public',
    'Sign in with email and password, or with a reset code and a new password, which ends all other sessions.',
    z
      .object({
        email: z.string().max(254),
        password: z.string().max(1_000).optional(),
        reset_code: code.optional(),
        new_password: Password.optional(),
        remember,
      })
      .superRefine(({ password, reset_code, new_password }, context) => {
        const issue = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
        if (reset_code === undefined && new_password === undefined) {
          if (password === undefined) issue('password', 'Send the password, or reset_code and new_password.')
        } else if (password !== undefined)
          issue('password', 'Send either the password, or reset_code and new_password.')
        else if (reset_code === undefined) issue('reset_code', 'A new password needs the reset code from an admin.')
        else if (new_password === undefined) issue('new_password', 'A reset code needs the new password.')
      }),
    Session,
    200,
    ['invalid_credentials', 'invalid_token', 'rate_limited'],
  ),
  'auth.options': get(
    '/auth/options',
    'public',
    'How one can get in, for a page that greets: whether there is an account yet, and whether the caller can make one.',
    z.object({}),
    AuthOptions,
  ),
  'auth.local': post(
    '/auth/local',
    'public',
    'Sign in as the local operator with the one-time code that the start printed (loopback only).',
    z.object({ code: z.string().max(100) }),
    Session.omit({ user: true, refresh_token: true }),
    200,
    ['invalid_credentials', 'invalid_token'],
  ),
  'auth.refresh': post(
    '/auth/refresh',
    'public',
    'Exchange a refresh token for a new pair.',
    z.object({ refresh_token: z.string() }),
    Session,
    200,
    ['invalid_refresh_token', 'refresh_token_reused', 'invalid_token'],
  ),
  'auth.resume': post(
    '/auth/resume',
    'public',
    'Continue a remembered session: exchanges the cookie `svc_session` for a new pair and a new cookie. A cookie works once; a second use ends its session.',
    z.object({}),
    Session,
    200,
    ['invalid_refresh_token', 'refresh_token_reused', 'invalid_token'],
  ),
  'auth.logout': post(
    '/auth/logout',
    'public',
    'End the session of a refresh token, its access tokens too; harmless for an unknown one.',
    z.object({ refresh_token: z.string() }),
    z.null(),
    204,
    ['invalid_token'],
  ),
  'auth.me': get(
    '/auth/me',
    'anyone',
    'Who the token belongs to. An agent’s token answers its owner.',
    z.object({}),
    User,
  ),
  'auth.change_password': post(
    '/auth/password',
    'jwt',
    'Change one’s password. Ends all other sessions; personal tokens stay.',
    z.object({ current_password: z.string().max(1_000), new_password: Password }),
    z.null(),
    204,
    ['invalid_credentials', 'jwt_required', 'rate_limited', 'forbidden'],
  ),
  'auth.list_sessions': get(
    '/auth/sessions',
    'jwt',
    'The caller’s sign-ins that still work, newest first.',
    z.object({}),
    list(ActiveSession),
    ['jwt_required'],
  ),
  'auth.delete_session': del(
    '/auth/sessions/{session_id}',
    'jwt',
    'End one of the caller’s sign-ins; its tokens are void immediately.',
    z.object({ session_id: SessionId }),
    ['forbidden', 'jwt_required'],
  ),
  'auth.delete_sessions': del('/auth/sessions', 'jwt', 'End all of the caller’s sign-ins but this one.', z.object({}), [
    'forbidden',
    'jwt_required',
  ]),
  'auth.create_token': post(
    '/auth/tokens',
    'jwt',
    'Make a personal access token; it is shown this once.',
    z.object({
      name: z.string().trim().min(1).max(100),
      scope: TokenScope.default('full'),
      expires_at: Timestamp.nullable().default(null).describe('In the future; null: never.'),
    }),
    PersonalAccessToken.omit({ last_used_at: true }).extend({ token: z.string() }),
    201,
    ['jwt_required'],
  ),
  'auth.list_tokens': get(
    '/auth/tokens',
    'jwt',
    'The caller’s personal access tokens.',
    z.object({}),
    list(PersonalAccessToken),
    ['jwt_required'],
  ),
  'auth.delete_token': del(
    '/auth/tokens/{token_id}',
    'human',
    'Revoke a personal access token. A personal token may revoke itself, and no other.',
    z.object({ token_id: TokenId }),
    ['forbidden', 'jwt_required'],
  ),
  'admin.list_users': get('/admin/users', 'admin', 'All registered users.', z.object({}), list(User), [
    'admin_required',
  ]),
  'admin.update_user': patch(
    '/admin/users/{user_id}',
    'admin',
    'Make someone an admin, or remove that right.',
    z.object({ user_id: UserId, is_admin: z.boolean() }),
    User,
    ['admin_required', 'last_admin'],
  ),
  'admin.create_reset': post(
    '/admin/users/{user_id}/reset',
    'admin_jwt',
    'Create a code for someone who lost their password: it signs them in once, within an hour, and lets them set a new one. Replaces the code before.',
    z.object({ user_id: UserId }),
    z.object({ code: z.string(), expires_at: Timestamp }),
    201,
    ['admin_required', 'jwt_required'],
  ),
  'admin.list_tokens': get(
    '/admin/users/{user_id}/tokens',
    'admin_jwt',
    'A user’s personal access tokens.',
    z.object({ user_id: UserId }),
    list(PersonalAccessToken),
    ['admin_required', 'jwt_required'],
  ),
  'admin.delete_token': del(
    '/admin/tokens/{token_id}',
    'admin_jwt',
    'Revoke a personal access token of any user.',
    z.object({ token_id: TokenId }),
    ['admin_required', 'jwt_required'],
  ),
  'admin.create_invite': post(
    '/admin/invites',
    'admin_jwt',
    'Create an invite code for one person. It is shown once and used up by the registration.',
    z.object({ expires_in_seconds: z.int().min(1).max(31_536_000).default(604_800) }),
    z.object({ id: InviteId, code: z.string(), expires_at: Timestamp }),
    201,
    ['admin_required', 'jwt_required', 'not_registered'],
  ),
  'admin.list_invites': get(
    '/admin/invites',
    'admin_jwt',
    'The invites that still work, newest first.',
    z.object({}),
    list(Invite),
    ['admin_required', 'jwt_required'],
  ),
  'admin.delete_invite': del(
    '/admin/invites/{invite_id}',
    'admin_jwt',
    'Take an invite back.',
    z.object({ invite_id: InviteId }),
    ['admin_required', 'jwt_required'],
  ),
  'admin.security_log': get(
    '/admin/security_log',
    'admin',
    'Sign-ins and failed ones, tokens, grants, invites, resets and exposure of the last 90 days, newest first.',
    z.object(page()),
    paginated(SecurityLogEntry),
    ['admin_required'],
  ),
} as const
