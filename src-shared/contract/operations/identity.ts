import { z } from 'zod'
import { Password, PersonalAccessToken, Session, User } from '../identity.ts'
import { TokenId, UserId } from '../ids.ts'
import { get, post, patch, del, list } from '../operation.ts'

export const identityOperations = {
  'auth.register': post(
    '/auth/register',
    'public',
    'Make an account; the first one becomes admin and owns what is ownerless.',
    z.object({ email: z.email().max(254), password: Password, display_name: z.string().trim().min(1).max(100) }),
    Session,
    201,
    ['email_taken', 'registration_closed', 'rate_limited'],
  ),
  'auth.login': post(
    '/auth/login',
    'public',
    'Sign in with email and password.',
    z.object({ email: z.string().max(254), password: z.string().max(1_000) }),
    Session,
    200,
    ['invalid_credentials', 'rate_limited'],
  ),
  'auth.local': post(
    '/auth/local',
    'public',
    'Sign in as the local operator with the one-time code that the start printed (loopback only).',
    z.object({ code: z.string().max(100) }),
    Session.omit({ user: true, refresh_token: true }),
    200,
    ['invalid_credentials'],
  ),
  'auth.refresh': post(
    '/auth/refresh',
    'public',
    'Exchange a refresh token for a new pair.',
    z.object({ refresh_token: z.string().max(100) }),
    Session,
    200,
    ['invalid_refresh_token', 'refresh_token_reused'],
  ),
  'auth.logout': post(
    '/auth/logout',
    'public',
    'Delete the refresh token; harmless for an unknown one.',
    z.object({ refresh_token: z.string().max(100) }),
    z.null(),
    204,
  ),
  'auth.me': get(
    '/auth/me',
    'anyone',
    'Who the token belongs to. An agent’s token answers its owner.',
    z.object({}),
    User,
  ),
  'auth.create_token': post(
    '/auth/tokens',
    'jwt',
    'Make a personal access token; it is shown this once.',
    z.object({ name: z.string().trim().min(1).max(100) }),
    PersonalAccessToken.omit({ last_used_at: true }).extend({ token: z.string() }),
    201,
    ['jwt_required'],
  ),
  'auth.list_tokens': get(
    '/auth/tokens',
    'human',
    'The caller’s personal access tokens.',
    z.object({}),
    list(PersonalAccessToken),
  ),
  'auth.delete_token': del(
    '/auth/tokens/{token_id}',
    'human',
    'Revoke a personal access token.',
    z.object({ token_id: TokenId }),
    ['forbidden'],
  ),
  'admin.list_users': get('/admin/users', 'admin', 'All registered users.', z.object({}), list(User), [
    'admin_required',
  ]),
  'admin.update_user': patch(
    '/admin/users/{user_id}',
    'admin',
    'Make somebody an admin, or no longer one.',
    z.object({ user_id: UserId, is_admin: z.boolean() }),
    User,
    ['admin_required', 'last_admin'],
  ),
} as const
