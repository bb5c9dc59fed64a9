import type { IncomingMessage, RequestListener } from 'node:http'
import { type Running, serve } from '../../bare-http/server.ts'
import { bodyOf, errorCodeHeaders, noSuchPath, Problem, unavailable } from '../../http/problem.ts'
import { StoreFailed } from '../store/database.ts'
import type { RelayAnswer, RelayProgram } from './program.ts'
import { routeOf } from './routes.ts'

const requestMs = 10_000

/** Longer than most proxies and clients keep a connection, so that they end it. */
const keepAliveMs = 65_000

/** Serves a relay over HTTP. */
export function serveRelay(program: RelayProgram, at: { host: string; port: number }): Promise<Running> {
  const options = { requestTimeout: requestMs, keepAliveTimeout: keepAliveMs }
  const answer: RequestListener = (request, response) => {
    answerTo(program, request)
      .then(({ status, headers, body }) => {
        response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body)
      })
      .catch(program.onError)
  }
  return serve(options, answer, at, program.onError)
}

/** Answers every failure as the client interface does, never with a stack trace. */
async function answerTo(program: RelayProgram, request: IncomingMessage): Promise<RelayAnswer> {
  const url = request.url ?? ''
  const [path = ''] = url.split('?', 1)
  const route = routeOf(path)
  try {
    if (!route) throw noSuchPath()
    const method = request.method ?? ''
    const handler = route.methods[method === 'HEAD' ? 'GET' : method]
    if (!handler) throw wrongMethod(method, Object.keys(route.methods))
    const answer = await handler(program, request, route.params)
    return { ...answer, headers: { ...route.headers, ...answer.headers } }
  } catch (error) {
    const problem = problemOf(error)
    if (problem.status >= 500 && !isGone(error)) program.onError(error)
    return {
      status: problem.status,
      headers: {
        ...route?.headers,
        ...problem.headers,
        ...errorCodeHeaders(url, problem),
        'content-type': 'application/json; charset=utf-8',
      },
      body: JSON.stringify(bodyOf(url, problem)),
    }
  }
}

/** The caller closed the connection. */
const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ECONNRESET'

/** How soon a caller tries again whose call could not be written. */
const retrySeconds = 5

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof StoreFailed)
    return unavailable('the relay cannot use its file right now; nothing was changed, so retry', retrySeconds)
  return new Problem(500, 'internal', 'internal error; see the log of the relay')
}

function wrongMethod(method: string, methods: readonly string[]): Problem {
  const allow = methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])).join(', ')
  return new Problem(405, 'invalid_request', `${method} is not allowed here; allowed: ${allow}`, { allow })
}
