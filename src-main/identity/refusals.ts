import { ApiError } from '../../src-shared/contract/errors.ts'

/** The request has no token. */
export const missingToken = () =>
  new ApiError({ code: 'missing_token', message: 'Send a token: Authorization: Bearer <token>.' })

/** The token is unknown, revoked or forged. */
export const invalidToken = (options?: ErrorOptions) =>
  new ApiError(
    { code: 'invalid_token', message: 'This token is not valid. Sign in again or make a new token.' },
    options,
  )

/** The token has expired. */
export const tokenExpired = (options?: ErrorOptions) =>
  new ApiError(
    { code: 'token_expired', message: 'This token has expired. Refresh it, make a new one, or sign in again.' },
    options,
  )

/** The same refusal for a wrong password and an unknown account. */
export const invalidCredentials = () =>
  new ApiError({ code: 'invalid_credentials', message: 'Email or password is wrong.' })
