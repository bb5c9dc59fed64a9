import { z } from 'zod'
import { findMail } from '../../../projections/mails.ts'
import type { TestMailPorts } from '../../commands/mails.ts'
import { changeMail, sendTestMail } from '../../commands/mails.ts'
import { AttemptError } from '../../domain/deliveries/events.ts'
import { MailSettings } from '../../domain/mails/events.ts'
import { isOneLine, keyPlaceholders, problemWith } from '../../domain/mails/kinds.ts'
import { TemplatePlace } from '../../domain/mails/wording-events.ts'
import { asciiEmail, isStorable, SlugInPath } from '../../domain/values.ts'
import { callerIn, originOf } from '../../http/authenticate.ts'
import { Problem } from '../../http/problem.ts'
import { answer, errors } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { attemptErrors } from '../../mail/channel.ts'
import type { Ports } from '../../ports.ts'
import { requireProduct } from './products/products.ts'

const onlyProductId = z.strictObject({ productId: SlugInPath })

const known = Object.keys(keyPlaceholders)
  .map((name) => `{{${name}}}`)
  .join(', ')

const keepable = (value: string | null) => value === null || isStorable(value)
const noText = 'must be well-formed text without NUL'

const { shape } = MailSettings
const template = (field: 'subject' | 'text' | 'html') =>
  shape[field].refine(keepable, noText).superRefine((written, context) => {
    const message = written === null ? undefined : problemWith('key', field, written)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })

const isEmail = (value: string | null) => value === null || asciiEmail(value) !== undefined
const noEmail = 'must be an email address'

const fromIn = shape.from
  .refine((from) => isEmail(from?.email ?? null), { path: ['email'], message: noEmail })
  .refine(
    (from) => from === null || (keepable(from.name) && isOneLine(from.name ?? '')),
    'must have a one-line name',
  )

const mailIn = z
  .strictObject({
    enabled: shape.enabled.default(true),
    from: fromIn.default(null),
    replyTo: shape.replyTo.refine(isEmail, noEmail).default(null),
    subject: template('subject').default(null),
    text: template('text').default(null),
    html: template('html').default(null),
    language: shape.language.default('en'),
    receipt: shape.receipt.default(false),
  })
  .refine(({ text, html }) => html === null || text !== null, {
    path: ['text'],
    message: 'must be sent with html, for mail programs that show plain text only',
  })
  .meta({
    example: {
      from: { name: 'Acme Software', email: 'licenses@acme.example' },
      replyTo: 'support@acme.example',
      subject: 'Your key for {{product_name}}',
      text: '{{greeting}},\n\nyour key: {{license_key}}\n',
    },
  })

const mailOut = z.object({
  mail: MailSettings.meta({
    id: 'ProductMail',
    description: 'How the customers of a product get their keys by mail',
  }),
})

const described =
  'The mail that sends the customer their key after a sale. It is always sent from the address of the installation. ' +
  'The name of `from` precedes the name of the workspace in the sender’s display name, and replies go to ' +
  '`replyTo`, or else to the address of `from`. A field that is null has its default. ' +
  `Templates may contain ${known}; values are escaped in HTML.`

type MailPorts = TestMailPorts & Ports<'findProduct'>

export function mailRoutes(app: ZodApp, ports: MailPorts, baseUrl: string): void {
  app.get(
    '/v1/products/:productId/mail',
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'getProductMail',
        tags: ['Products'],
        summary: 'Read the mail settings of a product',
        description: described,
        params: onlyProductId,
        response: { 200: answer('The settings', mailOut), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { productId } = await requireProduct(ports, tenantId, request.params.productId)
      return { mail: (await findMail(ports.db, tenantId, productId)).settings }
    },
  )
  app.put(
    '/v1/products/:productId/mail',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'setProductMail',
        tags: ['Products'],
        summary: 'Set the mail settings of a product; an omitted field returns to its default',
        description: described,
        params: onlyProductId,
        body: mailIn,
        response: { 200: answer('The settings', mailOut), ...errors(400, 403, 404, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const product = await requireProduct(ports, tenantId, request.params.productId)
      const { settings } = await changeMail(ports, product, request.body, originOf(request))
      return { mail: settings }
    },
  )
  testRoute(app, ports, baseUrl)
}

const testIn = z
  .strictObject({
    kind: TemplatePlace.shape.kind.default('key'),
    language: TemplatePlace.shape.language
      .default(null)
      .meta({ description: 'The language of the customer; null where it is not known', example: 'de' }),
  })
  .meta({ example: { kind: 'expiring' } })

const testOut = z
  .object({
    to: z
      .string()
      .meta({ description: 'The address of the member behind the token', example: 'dev@acme.example' }),
    subject: z.string().meta({
      description: 'The subject of the mail that was sent',
      example: 'Test: Your key for Editor',
    }),
    ok: z.boolean().meta({ description: 'Whether the mail server accepted it', example: true }),
    status: z.int().nullable().meta({
      description: 'The status of its answer; null when the mail server did not answer',
      example: 250,
    }),
    error: AttemptError.nullable().meta({
      description: 'Why it was not sent; null when it was accepted',
      example: null,
    }),
    excerpt: z.string().nullable().meta({
      description: 'The first 1 KiB of the answer; null without one',
      example: '250 2.0.0 Ok: queued',
    }),
    kept: z.boolean().meta({
      example: false,
      description:
        'Whether the installation has no mail server and keeps mails in the mailbox of the dashboard',
    }),
  })
  .meta({ id: 'MailTest', description: 'What the mail server answered to a test mail' })

function testRoute(app: ZodApp, ports: MailPorts, baseUrl: string): void {
  app.post(
    '/v1/products/:productId/mail/test',
    {
      // Each call sends a mail and returns its result, which may take longer than other calls.
      config: {
        scope: 'products:write',
        idempotencyKey: 'ignored',
        noRequestTimeout: true,
        noDryRun: 'it changes nothing but to send a mail, whose outcome only the mail server knows',
      },
      schema: {
        operationId: 'testProductMail',
        tags: ['Products'],
        summary: 'Send yourself the mail of a product, and return what the mail server answers',
        description:
          'The mail has made-up values and a key that no license has, and its subject begins with `Test:`. It is sent ' +
          'once, within 15 seconds, to the member who created the token, even while the product sends no other mails. ' +
          'A member can send five at once, then one a minute.',
        params: onlyProductId,
        body: testIn.nullish(),
        response: {
          200: answer('What the mail server answered', z.object({ test: testOut })),
          ...errors(400, 403, 404, 422),
        },
      },
    },
    async (request) => {
      const { tenantId, memberId } = callerIn(request)
      const product = await requireProduct(ports, tenantId, request.params.productId)
      const tested = await sendTestMail(
        ports,
        { product, ...(request.body ?? { kind: 'key', language: null }) },
        memberId,
        originOf(request),
        baseUrl,
      )
      if (tested.outcome === 'wait')
        throw new Problem(429, 'rate_limited', 'too many test mails; wait and retry', {
          'retry-after': String(tested.retryAfterSeconds),
        })
      const { to, subject, sending, kept } = tested
      const error = sending.taken ? null : attemptErrors[sending.problem]
      const { status, answer: excerpt } = sending
      return { test: { to, subject, ok: sending.taken, status, error, excerpt, kept } }
    },
  )
}
