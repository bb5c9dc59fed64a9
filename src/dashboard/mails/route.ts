import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findPortal } from '../../../projections/portal.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { findWordings } from '../../../projections/wordings.ts'
import { sendTestMail } from '../../commands/mails.ts'
import { changeMailStyle, removeMailTemplate, setMailTemplate, writeSample } from '../../commands/wordings.ts'
import type { MailKind, MailTemplate } from '../../domain/mails/kinds.ts'
import { htmlAsPage } from '../../domain/mails/rendering.ts'
import { TemplatePlace } from '../../domain/mails/wording-events.ts'
import { templateId } from '../../domain/mails/wordings.ts'
import { languageNames } from '../../domain/portal/languages.ts'
import { notFound } from '../../http/problem.ts'
import { type FilledForm, readForm } from '../forms/filled-form.ts'
import { formOf } from '../forms/forms.ts'
import { refusedForm } from '../forms/refused.ts'
import { given } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import { productChoices } from '../lists/lists.ts'
import { sendMailHtml, sendMailText } from '../mailbox/shown-html.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { filledStyle, filledTemplate, StyleForm, templateForm } from './form.ts'
import { mailSenderPages } from './sender-route.ts'
import { testMailWords } from './test-words.ts'
import {
  type Choices,
  mailsPath,
  mailsView,
  type Place,
  settings,
  templatePath,
  templateView,
} from './view.ts'

const manage = pageRoute({ page: 'manage_products' })
/** A mail server may take longer to answer than a page. */
const testing = pageRoute({ page: 'manage_products', noRequestTimeout: true })

type TemplateRequest = FastifyRequest<{ Params: { template: string } }>

/** As {@link templateId} writes it. */
const Id = z
  .string()
  .transform((id) => id.split('.').map((part) => (part === '*' ? null : part)))
  .pipe(z.tuple([TemplatePlace.shape.kind, TemplatePlace.shape.productId, TemplatePlace.shape.language]))

const OpenForm = z.object({
  kind: TemplatePlace.shape.kind,
  product: given,
  language: z.union([z.literal(''), TemplatePlace.shape.language.unwrap()]),
})
const path = '/settings/mails'

/** How the workspace words its mails, with the mail beside each text. */
export function mailTemplatePages(app: FastifyInstance, context: PageContext): void {
  listPages(app, context)
  editorPages(app, context)
  previewPages(app, context)
  mailSenderPages(app, context)
}

function listPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: FastifyRequest, reply: FastifyReply, filled?: FilledForm) => {
    const { tenantId } = principalOf(request)
    const [wordings, choices] = await Promise.all([
      findWordings(ports.db, tenantId),
      choicesIn(ports, tenantId),
    ])
    const form = filled ?? filledStyle(wordings.style)
    return show(reply, {
      title: 'Mails',
      nav: 'settings',
      content: (view) => mailsView(view, wordings, choices, form),
      form,
    })
  }

  app.get(path, manage, (request, reply) => page(request, reply))

  app.post(`${path}/open`, manage, async (request, reply) => {
    const { kind, product, language } = formOf(OpenForm, request)
    return reply.redirect(
      `${mailsPath}/${templateId({ kind, productId: product || null, language: language || null })}`,
      303,
    )
  })

  app.post(`${path}/style`, manage, async (request, reply) => {
    const { filled, data } = readForm(StyleForm, request)
    if (!data) return page(request, reply, filled)
    const { replyTo = null, footer, logo } = data
    const style = { replyTo, footer, logo }
    await changeMailStyle(ports, principalOf(request).tenantId, style, originOfMember(request))
    return redirectWith(reply, mailsPath, 'Saved for all mails.')
  })
}

async function choicesIn(ports: PageContext['ports'], tenantId: string): Promise<Choices> {
  const [products, { addedLanguages }] = await Promise.all([
    productChoices(ports, tenantId),
    findPortal(ports.db, tenantId),
  ])
  return { products, languages: languageNames(addedLanguages) }
}

/** Whether the portal has the language, or a template is left that is for one that it had. */
async function isOfPortal(
  { db }: PageContext['ports'],
  tenantId: string,
  place: TemplatePlace,
): Promise<boolean> {
  if (place.language === null) return true
  const { addedLanguages } = await findPortal(db, tenantId)
  if (Object.hasOwn(languageNames(addedLanguages), place.language)) return true
  return Object.hasOwn((await findWordings(db, tenantId)).templates, templateId(place))
}

type Found = { tenantId: string; place: Place; product: PresentProduct | null; recorded: TemplatePlace }

/** What the template of an address is for. @throws Problem 404 for no mail, or no product, of this name */
async function placeOf({ ports }: PageContext, request: TemplateRequest): Promise<Found> {
  const { tenantId } = principalOf(request)
  const { data } = Id.safeParse(request.params.template)
  if (!data) throw notFound('mail')
  const [kind, productId, language] = data
  const product = productId === null ? null : await ports.findProduct(tenantId, productId)
  if (product === undefined) throw notFound('product')
  if (!(await isOfPortal(ports, tenantId, { kind, productId, language }))) throw notFound('mail')
  return { tenantId, place: { kind, product, language }, product, recorded: { kind, productId, language } }
}

const templateOf = async ({ ports }: PageContext, { tenantId, recorded }: Found) =>
  (await findWordings(ports.db, tenantId)).templates[templateId(recorded)]

function editorPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show, baseUrl } = context
  const page = async (reply: FastifyReply, found: Found, filled?: FilledForm) => {
    const [template, choices] = await Promise.all([
      templateOf(context, found),
      choicesIn(ports, found.tenantId),
    ])
    const form = filled ?? filledTemplate(template)
    const shown = { ...choices, exists: template !== undefined, mayTest: found.product !== null }
    withFrames(reply)
    return show(reply, {
      title: 'Text of a mail',
      nav: 'settings',
      trail: [settings, { label: 'Mails', href: mailsPath }],
      content: (view) => templateView(view, found.place, shown, form),
      form,
    })
  }

  app.get(`${path}/:template`, manage, async (request: TemplateRequest, reply) =>
    page(reply, await placeOf(context, request)),
  )

  app.post(`${path}/:template`, manage, async (request: TemplateRequest, reply) => {
    const found = await placeOf(context, request)
    const { filled, data } = readForm(templateForm(found.place.kind), request)
    if (!data) return page(reply, found, filled)
    try {
      await setMailTemplate(ports, found.tenantId, { ...found.recorded, ...data }, originOfMember(request))
    } catch (error) {
      return page(reply, found, refusedForm(error, filled))
    }
    return redirectWith(reply, templatePath(found.place), 'Text saved.')
  })

  app.post(`${path}/:template/remove`, manage, async (request: TemplateRequest, reply) => {
    const { tenantId, recorded } = await placeOf(context, request)
    await removeMailTemplate(ports, tenantId, recorded, originOfMember(request))
    return redirectWith(reply, mailsPath, 'Text removed.')
  })

  app.post(`${path}/:template/test`, testing, async (request: TemplateRequest, reply) => {
    const { place, product } = await placeOf(context, request)
    if (!product) throw notFound('product')
    const { kind, language } = place
    const { memberId } = principalOf(request)
    const tested = await sendTestMail(
      ports,
      { product, kind, language },
      memberId,
      originOfMember(request),
      baseUrl,
    )
    return redirectWith(reply, templatePath(place), testMailWords(tested))
  })
}

/** The page may show pages of its own in a frame, which no other page may. */
function withFrames(reply: FastifyReply): void {
  const policy = reply.getHeader('content-security-policy')
  reply.header('content-security-policy', `${String(policy)};frame-src 'self'`)
}

/** What the frame beside the editor shows: what is sent now, or what was typed. */
function previewPages(app: FastifyInstance, context: PageContext): void {
  const { ports, baseUrl } = context
  const send = async (reply: FastifyReply, found: Found, as: 'html' | 'text', draft?: MailTemplate) => {
    const { tenantId, product, place } = found
    const { kind, language } = place
    const shown = { kind, tenantId, product, language, email: 'ada@example.com', draft }
    const mail = await writeSample(ports, shown, baseUrl)
    const html = as === 'text' ? null : htmlAsPage(mail)
    return html === null
      ? sendMailText(reply, `${mail.subject}\n\n${mail.text}`)
      : sendMailHtml(reply, html, true)
  }
  const typed = (kind: MailKind, request: TemplateRequest) => {
    const { filled, data } = readForm(templateForm(kind), request)
    return data ?? Object.values(filled.problems).join('\n')
  }

  for (const as of ['html', 'text'] as const) {
    const address = `${path}/:template/preview${as === 'text' ? '-text' : ''}`
    app.get(address, manage, async (request: TemplateRequest, reply) =>
      send(reply, await placeOf(context, request), as),
    )
    app.post(address, manage, async (request: TemplateRequest, reply) => {
      const found = await placeOf(context, request)
      const draft = typed(found.place.kind, request)
      return typeof draft === 'string' ? sendMailText(reply.code(422), draft) : send(reply, found, as, draft)
    })
  }
}
