import { parse } from 'node:querystring'
import type { FastifyError, FastifyInstance } from 'fastify'
import { z } from 'zod'
import { problemOf } from '../../../http/errors.ts'

/** OAuth's name for the grant of RFC 8628. */
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

export const form = 'application/x-www-form-urlencoded'

/** A refusal with a standard OAuth error code. */
export class OAuthError extends Error {
  readonly code: 'invalid_request' | 'invalid_grant' | 'invalid_scope' | 'unsupported_grant_type'

  constructor(code: OAuthError['code']) {
    super(code)
    this.name = 'OAuthError'
    this.code = code
  }
}

/** The contract's error body, with a code of OAuth in it. */
export const oauthRefusal = z
  .object({
    error: z.string().meta({
      description:
        '`authorization_pending`: not decided yet; `slow_down`: polled faster than the interval; ' +
        '`access_denied`; `expired_token`: unknown, expired, or the token was already returned; `invalid_grant`: ' +
        'not a device code; `invalid_scope`: a scope that does not exist; `unsupported_grant_type`: not the grant ' +
        'of RFC 8628; `invalid_request`: a field is missing, unknown, malformed or sent twice',
    }),
  })
  .meta({
    id: 'DeviceLoginError',
    description: 'A refusal with an error code of OAuth',
    example: { error: 'authorization_pending' },
  })

/**
 * Makes routes callable by OAuth libraries: they accept forms as well as JSON, and refuse with OAuth's error codes.
 * @param fields the fields of a form; others are ignored, as OAuth requires
 */
export function speakOAuth(app: FastifyInstance, fields: readonly string[]): void {
  app.addContentTypeParser<string>(form, { parseAs: 'string' }, (_request, body, done) => {
    const sent = parse(body)
    // A parameter without a value counts as omitted (RFC 6749, section 3.1).
    const known = fields.filter((field) => sent[field] !== undefined && sent[field] !== '')
    done(null, Object.fromEntries(known.map((field) => [field, sent[field]])))
  })
  app.setErrorHandler(async (error: FastifyError | OAuthError, _request, reply) => {
    const { code } = error instanceof OAuthError ? error : refusalOf(error)
    return reply.code(400).header('error-code', code).send({ error: code })
  })
}

/** @throws the error itself when the request did not cause it; the application answers it */
function refusalOf(error: FastifyError): OAuthError {
  if (problemOf(error).status !== 400) throw error
  return new OAuthError('invalid_request')
}
