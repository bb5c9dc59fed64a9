import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CallApi } from './api.ts'
import { answerFrom, headersOf, pathOf } from './request.ts'

/**
 * Calls the management interface for an agent's request, with its token and from its address. Each call goes to the same
 * routes as a request over the network, so that it passes the same checks.
 */
export const callInProcess =
  (app: FastifyInstance, { headers, ip }: FastifyRequest): CallApi =>
  async (request) => {
    const { authorization = '', 'user-agent': userAgent = '' } = headers
    const answer = await app.inject({
      method: request.method,
      url: pathOf(request),
      remoteAddress: ip,
      headers: { authorization, 'user-agent': userAgent, ...headersOf(request) },
      ...(request.body && { payload: request.body }),
    })
    const retryAfter = answer.headers['retry-after']?.toString()
    const errorCode = answer.headers['error-code']?.toString()
    return answerFrom({ status: answer.statusCode, text: answer.body, retryAfter, errorCode })
  }
