import { ApiError } from '../../src-shared/contract/errors.ts'

/** No route for this method and path. */
export const routeNotFound = () =>
  new ApiError({
    code: 'not_found',
    message: "This route doesn't exist. GET /openapi.json lists all routes.",
    details: { resource: 'route' },
  })

/** A value of the wrong shape outside an operation's schema. */
export const validationFailed = (path: string, message: string) =>
  new ApiError({ code: 'validation_failed', message: `${path}: ${message}`, details: { issues: [{ path, message }] } })
