import type { FastifyError, FastifyInstance } from 'fastify'
import { html } from '../../html.ts'
import { problemOf } from '../../http/errors.ts'
import { notFound, Problem } from '../../http/problem.ts'
import { sentence } from '../../sentence.ts'
import { messageView } from '../sign-in/view.ts'
import type { ShowPage } from './page.ts'

const titles: Record<number, string> = {
  400: 'Invalid request',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Not possible now',
  429: 'Too many attempts',
  503: 'Not available now',
}

/** Shows errors as pages with a message for people, without internals. */
export function answerFailures(app: FastifyInstance, show: ShowPage): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problem = problemFor(error)
    const { status, message, headers } = problem
    if (status >= 500) request.log.error({ err: error, request_id: request.id }, 'request.failed')
    // A 404 looks the same whatever the reason, so it shows no freshness.
    request.freshness = undefined
    const title = titles[status] ?? 'Something went wrong'
    const text = sentence(message)
    return show(
      reply.headers(headers),
      {
        title,
        content: () =>
          messageView(title, text, [
            status >= 500 && html`<p class="sub">Request <code>${request.id}</code></p>`,
            html`<p><a href="/dashboard">Go to Home</a></p>`,
          ]),
      },
      status,
    )
  })
  app.setNotFoundHandler(() => {
    throw notFound('page')
  })
}

function problemFor(error: FastifyError): Problem {
  if (String(error.code).startsWith('FST_CSRF_')) {
    return new Problem(403, 'forbidden', 'This form has expired. Go back, reload the page and try again.')
  }
  return problemOf(error)
}
