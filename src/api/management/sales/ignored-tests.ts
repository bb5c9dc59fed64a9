import { z } from 'zod'
import { Provider } from '../../../domain/integrations/provider.ts'
import { callerIn } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { answer, errors, momentOut, pageOf, pageQuery } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { describeIgnoredTest, ignoredReasons, listIgnoredTests } from '../../../usage/ignored-tests.ts'
import { answerPage } from '../page.ts'

const ignoredTestOut = z
  .object({
    provider: Provider,
    notificationId: z.string().meta({
      description: "The provider's id of the notification, or a hash of its body",
      example: 'evt_1QwGk2LkdIwHu7ixR8vXn0Sd',
    }),
    kind: z.string().meta({ description: 'What it reported', example: 'sold' }),
    reason: z
      .enum(ignoredReasons)
      .meta({ description: 'Why it had no effect, for programs', example: 'product_not_in_test_mode' }),
    message: z.string().meta({
      description: 'Why it had no effect, and what to do',
      example: 'The product editor is not in test mode. Turn its test mode on and send the test again.',
    }),
    times: z.int().meta({ description: 'How often it was sent', example: 1 }),
    receivedAt: momentOut,
    lastAt: momentOut.meta({ description: 'When it was sent last', example: '2026-11-21T09:29:59.000Z' }),
  })
  .meta({ id: 'IgnoredTest', description: 'A test notification that had no effect' })

/** A tenant's test notifications that had no effect. */
export function ignoredTestsRoute(app: ZodApp, ports: Ports<'db'>, cursors: Cursors): void {
  app.get(
    '/v1/sales/ignored',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listIgnoredTests',
        tags: ['Sales'],
        summary: 'List the test notifications that had no effect, newest first',
        description: 'Each entry gives the reason. Entries are kept for 30 days, at most 200 per tenant.',
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of ignored tests', pageOf(ignoredTestOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      return answerPage(
        cursors,
        [tenantId, 'ignored tests'],
        request.query,
        (keyset) => listIgnoredTests(ports.db, tenantId, keyset),
        (tests) =>
          tests.map(({ detail, ...test }) => ({
            ...test,
            message: describeIgnoredTest({ ...test, detail }),
          })),
      )
    },
  )
}
