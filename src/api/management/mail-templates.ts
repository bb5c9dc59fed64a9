import { z } from 'zod'
import { findWordings } from '../../../projections/wordings.ts'
import { changeMailStyle, removeMailTemplate, setMailTemplate, writeSample } from '../../commands/wordings.ts'
import { mailKinds, templateProblems } from '../../domain/mails/kinds.ts'
import { MailStyle, PlacedTemplate, TemplatePlace, TemplateTexts } from '../../domain/mails/wording-events.ts'
import { templateId, type Wordings } from '../../domain/mails/wordings.ts'
import { EmailAddress, isPlain, isStorable, notPlain } from '../../domain/values.ts'
import { callerIn, originOf } from '../../http/authenticate.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errors } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { requireProduct } from './products/products.ts'

const kinds = Object.entries(mailKinds)
  .map(([kind, { placeholders }]) => `\`${kind}\`: ${Object.keys(placeholders).join(', ')}`)
  .join('; ')

const described =
  'Mails about a license have the template of its product in the language of the customer, else that of the product for every ' +
  'language, else that of all products in the language, else that of all products, else the built-in text. ' +
  'A text without `html` is shown in the frame of the built-in mails. Values are escaped in HTML.'

const noText = 'must be well-formed text without NUL'
const textsIn = z.strictObject({
  subject: TemplateTexts.shape.subject.refine(isStorable, noText),
  text: TemplateTexts.shape.text.refine(isStorable, noText),
  html: TemplateTexts.shape.html.refine((html) => html === null || isStorable(html), noText).default(null),
})
const placeIn = z.strictObject({
  kind: TemplatePlace.shape.kind,
  productId: TemplatePlace.shape.productId.default(null),
  language: TemplatePlace.shape.language.default(null),
})
const templateIn = z
  .strictObject({ ...placeIn.shape, ...textsIn.shape })
  .superRefine(({ kind, subject, text, html }, context) => {
    for (const { field, message } of templateProblems(kind, { subject, text, html }))
      context.addIssue({ code: 'custom', path: [field], message })
  })
  .meta({
    example: {
      kind: 'expiring',
      subject: 'Your license for {{product_name}} ends on {{expires_on}}',
      text: '{{greeting}},\n\nyour license ends on {{expires_on}}.\n\n{{portal_url}}\n',
    },
  })

const templateOut = PlacedTemplate.extend({
  id: z.string().meta({
    description: 'Identifies it: its kind, product and language, with a star for all',
    example: 'expiring.editor.de',
  }),
}).meta({ id: 'MailTemplate', description: "A vendor's own wording of a mail" })

const templatesOut = z.object({
  templates: z.array(templateOut).meta({ description: 'At most 200, by their ids' }),
})

const listed = ({ templates }: Wordings) => ({
  templates: Object.entries(templates)
    .map(([id, template]) => ({ id, ...template }))
    .sort((one, other) => (one.id < other.id ? -1 : 1)),
})

type TemplatePorts = Ports<'db' | 'execute' | 'findProduct' | 'mailing' | 'now'>

/** How the tenant words its mails. */
export function mailTemplateRoutes(app: ZodApp, ports: TemplatePorts, baseUrl: string): void {
  app.get(
    '/v1/mail-templates',
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'listMailTemplates',
        tags: ['Mails'],
        summary: 'List your templates of mails',
        description: described,
        response: { 200: answer('The templates', templatesOut), ...errors(403) },
      },
    },
    async (request) => listed(await findWordings(ports.db, callerIn(request).tenantId)),
  )
  app.put(
    '/v1/mail-templates',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'setMailTemplate',
        tags: ['Mails'],
        summary: 'Set the template of a mail, for one product or all, in one language or every',
        description: `${described} Each kind of mail has its placeholders: ${kinds}.`,
        body: templateIn,
        response: {
          200: answer('The template', z.object({ template: templateOut })),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { body } = request
      if (body.productId !== null) await requireProduct(ports, tenantId, body.productId)
      await setMailTemplate(ports, tenantId, body, originOf(request))
      return { template: { id: templateId(body), ...body } }
    },
  )
  app.delete(
    '/v1/mail-templates/:templateId',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'removeMailTemplate',
        tags: ['Mails'],
        summary: 'Remove a template',
        description: 'The mail then has the next template that fits, or the built-in text.',
        params: z.strictObject({
          templateId: z.string().meta({
            description: 'Of the template: its kind, product and language, with a star for all',
            example: 'expiring.editor.de',
          }),
        }),
        response: { 200: answer('The templates that are left', templatesOut), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { templates } = await findWordings(ports.db, tenantId)
      const { templateId: id } = request.params
      const template = Object.hasOwn(templates, id) ? templates[id] : undefined
      if (!template) throw notFound('mail template')
      return listed(await removeMailTemplate(ports, tenantId, template, originOf(request)))
    },
  )
  previewRoute(app, ports, baseUrl)
  styleRoutes(app, ports)
}

const previewIn = z
  .strictObject({
    ...placeIn.shape,
    template: textsIn.nullable().default(null).meta({
      description: 'The texts to show, which are not saved; null shows the mail as it is sent now',
    }),
  })
  .superRefine(({ kind, template }, context) => {
    for (const { field, message } of template ? templateProblems(kind, template) : [])
      context.addIssue({ code: 'custom', path: ['template', field], message })
  })
  .meta({ example: { kind: 'expiring', language: 'de' } })

const mailOut = z
  .object({
    from: z.string().meta({ description: "The sender's name", example: 'Acme Software' }),
    replyTo: z.string().nullable().meta({
      description: 'Where replies go; null for the sender',
      example: 'support@acme.example',
    }),
    subject: z.string().meta({
      description: 'The subject',
      example: 'Your license for Editor ends on 1 March 2027',
    }),
    text: z.string().meta({
      description: 'The plain text',
      example: 'Hello Ada Example,\n\nyour license ends on 1 March 2027.\n',
    }),
    html: z.string().nullable().meta({
      description: 'The HTML, in which the logo is `cid:logo`; null for a mail of plain text only',
      example: null,
    }),
  })
  .meta({ id: 'MailPreview', description: 'A mail with made-up values' })

function previewRoute(app: ZodApp, ports: TemplatePorts, baseUrl: string): void {
  app.post(
    '/v1/mail-templates/preview',
    {
      config: {
        scope: 'products:read',
        idempotencyKey: 'ignored',
        noDryRun: 'it changes nothing',
      },
      schema: {
        operationId: 'previewMail',
        tags: ['Mails'],
        summary: 'Show a mail with made-up values, as it would be sent',
        description:
          'It is written by the functions that write the mails to customers, with a key that no license has. Nothing is sent or saved.',
        body: previewIn,
        response: {
          200: answer('The mail', z.object({ mail: mailOut })),
          ...errors(400, 403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { kind, productId, language, template } = request.body
      const product = productId === null ? null : await requireProduct(ports, tenantId, productId)
      const shown = { kind, tenantId, product, language, email: 'ada@example.com' }
      const draft = template ?? undefined
      const { from, replyTo, subject, text, html } = await writeSample(ports, { ...shown, draft }, baseUrl)
      return { mail: { from: from.name ?? from.email, replyTo, subject, text, html } }
    },
  )
}

const styleIn = z
  .strictObject({
    replyTo: EmailAddress.nullable().default(null).meta({
      description: 'Where replies go, for products that name no address',
    }),
    footer: MailStyle.shape.footer
      .refine((footer) => footer === null || isPlain(footer.replaceAll('\n', '')), notPlain)
      .default(null),
    logo: MailStyle.shape.logo.default(false),
  })
  .meta({
    example: {
      replyTo: 'support@acme.example',
      footer: 'Acme Software Ltd, 1 High Street, London',
      logo: true,
    },
  })

const styleOut = z.object({
  style: MailStyle.meta({ id: 'MailStyle', description: 'What all mails to customers have in common' }),
})

const styleDescribed =
  'The address for replies, the footer and the logo of all mails to customers, with links to the portal and invitations among them. ' +
  'The logo is that of the customer portal. HTML of your own has the footer where it contains `{{footer}}`, and the logo where an image has the source `cid:logo`.'

function styleRoutes(app: ZodApp, ports: TemplatePorts): void {
  app.get(
    '/v1/mail-style',
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'getMailStyle',
        tags: ['Mails'],
        summary: 'Read what all mails to customers have in common',
        description: styleDescribed,
        response: { 200: answer('The style', styleOut), ...errors(403) },
      },
    },
    async (request) => ({ style: (await findWordings(ports.db, callerIn(request).tenantId)).style }),
  )
  app.put(
    '/v1/mail-style',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'setMailStyle',
        tags: ['Mails'],
        summary: 'Set what all mails to customers have in common; an omitted field returns to its default',
        description: styleDescribed,
        body: styleIn,
        response: { 200: answer('The style', styleOut), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { style } = await changeMailStyle(ports, tenantId, request.body, originOf(request))
      return { style }
    },
  )
}
