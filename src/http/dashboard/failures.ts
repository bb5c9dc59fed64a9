import type { FastifyError, FastifyInstance } from 'fastify'
import { problemOf } from '../errors.ts'
import { notFound, Problem } from '../problem.ts'
import { html } from './html.ts'
import type { ShowPage } from './page.ts'
import { messageView } from './views/sign-in.ts'

const titles: Record<number, string> = {
  400: 'That did not work',
  403: 'That is not allowed',
  404: 'There is nothing here',
  409: 'That is not possible now',
  429: 'Too many tries',
}

/** Says what went wrong on a page of its own, in words for people, and never how it came about. */
export function answerFailures(app: FastifyInstance, show: ShowPage): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problem = problemFor(error)
    const { status, message, headers } = problem
    if (status >= 500) request.log.error({ err: error, request_id: request.id }, 'request.failed')
    // What is not there, or may not be seen, looks the same at any moment.
    request.freshness = undefined
    const title = titles[status] ?? 'Something does not answer'
    const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`
    return show(
      reply.headers(headers),
      {
        title,
        content: () =>
          messageView(title, text, [
            status >= 500 && html`<p class="sub">Request <code>${request.id}</code></p>`,
            html`<p><a href="/dashboard">Go home</a></p>`,
          ]),
      },
      status,
    )
  })
  app.setNotFoundHandler(() => {
    throw notFound('this page is')
  })
}

function problemFor(error: FastifyError): Problem {
  if (String(error.code).startsWith('FST_CSRF_')) {
    return new Problem(
      403,
      'forbidden',
      'This form is out of date. Go back, load the page again and try once more.',
    )
  }
  return problemOf(error)
}
